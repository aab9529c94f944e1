/// What to start: a program, its arguments, its environment and its descriptors.
///
/// The child inherits only what is named here: every other descriptor is closed, its signal mask is empty, and every
/// signal has its default action.
public struct Launch: Sendable {
    /// A path if it contains a slash, otherwise a name that is looked up in PATH.
    public var program: String
    /// The arguments after the program's name.
    public var arguments: [String]
    /// The names of our environment variables that the child inherits, or nil for all of them.
    public var inheritedVariables: Set<String>?
    /// Changes to the inherited variables: a value to set, or nil to remove the variable.
    public var environment: [String: String?] = [:]
    /// The child's working directory, or nil for ours.
    public var workingFolder: String?
    /// The child's descriptor 0.
    public var standardInput: Input = .null
    /// The child's descriptor 1.
    public var standardOutput: Output = .inherit
    /// The child's descriptor 2.
    public var standardError: Output = .inherit
    /// More descriptors to pass on: the child's number (3 or more) for each number here. The caller still has to close
    /// ours.
    public var descriptors: [Int32: Int32] = [:]
    /// Whether the child leads its own process group, so that signals also reach the processes that it starts.
    public var leadsProcessGroup = false

    /// Where a child's input comes from.
    public enum Input: Sendable {
        /// `/dev/null`.
        case null
        /// Our own.
        case inherit
        /// One of our descriptors, which the caller still has to close.
        case descriptor(Int32)
        /// A pipe that `ChildProcess.write` fills.
        case pipe
    }

    /// Where a child's output goes.
    public enum Output: Sendable {
        /// `/dev/null`.
        case null
        /// Our own.
        case inherit
        /// One of our descriptors, which the caller still has to close.
        case descriptor(Int32)
        /// Kept in memory: the first `limit` bytes. The rest is read and dropped, so that the child never blocks.
        case text(limit: Int)
        /// Kept like `text`. Each line is also passed to `receive` as it comes, without its line feed, on the reader's
        /// thread. A line of more than 64 KiB comes in pieces.
        case lines(limit: Int, receive: @Sendable (String) -> Void)
    }

    /// A launch of the program with these arguments. All other properties have their defaults.
    public init(_ program: String, _ arguments: [String] = []) {
        self.program = program
        self.arguments = arguments
    }
}

/// How a process ended.
public enum ProcessStatus: Equatable, Sendable, CustomStringConvertible {
    /// It exited with this code.
    case exited(Int32)
    /// This signal ended it.
    case signaled(Int32)

    /// Whether it exited with code 0.
    public var isSuccess: Bool { self == .exited(0) }

    public var description: String {
        switch self {
        case .exited(let code): "exit status \(code)"
        case .signaled(let signal): "ended by signal \(signal)"
        }
    }
}
