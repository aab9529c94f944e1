/// What to start: a program, its arguments, and what its descriptors are.
///
/// Nothing of ours leaks into the child but what is named here: every descriptor that isn't handed down is closed in it,
/// its signal mask is empty and every signal has its default action.
public struct Launch: Sendable {
    /// A path if it has a slash, otherwise a name that is looked up in PATH.
    public var program: String
    /// What follows the program's name.
    public var arguments: [String]
    /// The names of our own variables that the child gets; nil: all of them.
    public var inheritedVariables: Set<String>?
    /// Changes to those: a value to set, or nil to take the variable away.
    public var environment: [String: String?] = [:]
    /// Where the child starts; nil is where we are.
    public var workingFolder: String?
    /// The child's descriptor 0.
    public var standardInput: Input = .null
    /// The child's descriptor 1.
    public var standardOutput: Output = .inherit
    /// The child's descriptor 2.
    public var standardError: Output = .inherit
    /// More descriptors to hand down: the child's number (3 or more) for each of ours, which stay ours to close.
    public var descriptors: [Int32: Int32] = [:]
    /// Whether the child leads a process group of its own, so that signals reach what it has started too.
    public var leadsProcessGroup = false

    /// Where a child's input comes from.
    public enum Input: Sendable {
        /// `/dev/null`.
        case null
        /// Our own.
        case inherit
        /// A descriptor of ours, which stays ours to close.
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
        /// A descriptor of ours, which stays ours to close.
        case descriptor(Int32)
        /// Kept in memory: the first `limit` bytes; what follows is read and dropped, so that the child never blocks.
        case text(limit: Int)
        /// Kept like `text`, and each line is handed over as it comes, without its line feed, on the reader's thread.
        /// A line of more than 64 KiB comes in pieces.
        case lines(limit: Int, receive: @Sendable (String) -> Void)
    }

    /// The program with these arguments; everything else as documented at each property.
    public init(_ program: String, _ arguments: [String] = []) {
        self.program = program
        self.arguments = arguments
    }
}

/// How a process ended.
public enum ProcessStatus: Equatable, Sendable, CustomStringConvertible {
    /// It left with this code.
    case exited(Int32)
    /// This signal ended it.
    case signaled(Int32)

    /// Whether it left with code 0.
    public var isSuccess: Bool { self == .exited(0) }

    public var description: String {
        switch self {
        case .exited(let code): "exit status \(code)"
        case .signaled(let signal): "ended by signal \(signal)"
        }
    }
}
