/// An error in a command line: one line that names the option, the value and what would be right.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The line, without the program's name in front.
    public let description: String
    /// The program's exit code.
    public let exitCode: ExitCode

    /// An error with this line for the user.
    public init(_ description: String, exitCode: ExitCode = .usage) {
        self.description = description
        self.exitCode = exitCode
    }

    /// An error about the file that `option` names: "--token-file FILE: is no file". `problem` may begin with the
    /// file's path.
    public init(_ option: String, file: String, _ problem: String, exitCode: ExitCode) {
        let words = problem.hasPrefix("\(file) ") ? problem.dropFirst(file.count + 1) : problem[...]
        self.init("\(option) \(file): \(words)", exitCode: exitCode)
    }
}
