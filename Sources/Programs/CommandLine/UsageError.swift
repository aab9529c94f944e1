/// What is wrong with a command line: one line that names the option, the value and what would be right.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line, without the program's name in front.
    public let description: String
    /// What to end the program with.
    public let exitCode: ExitCode

    /// An error with a line for the user.
    public init(_ description: String, exitCode: ExitCode = .usage) {
        self.description = description
        self.exitCode = exitCode
    }
}
