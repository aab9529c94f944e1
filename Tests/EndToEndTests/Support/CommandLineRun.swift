import Processes
import TestSupport
import Testing

/// One run of a program to its end, as a shell sees it.
struct CommandLineRun {
    let status: ProcessStatus?
    let output: String
    let errorOutput: String

    /// Runs `words`, the first of which is one of our programs, without DISPLAY unless `display` names one, and with
    /// the changes in `environment`.
    init(
        _ words: [String], display: String? = nil, folder: String? = nil, environment: [String: String] = [:]
    ) throws {
        var launch = Launch(try #require(builtProgram(words[0])), Array(words.dropFirst()))
        launch.environment = RunningProgram.environment
        launch.environment["DISPLAY"] = .some(display)
        for (name, value) in environment { launch.environment[name] = .some(value) }
        launch.workingFolder = folder
        launch.standardOutput = .text(limit: 1 << 20)
        launch.standardError = .text(limit: 1 << 20)
        (status, output, errorOutput) = try ChildProcess.run(launch, within: .seconds(120))
    }

    /// The one line that it wrote to standard error; nil if it wrote nothing, or more than one.
    var errorLine: String? {
        guard errorOutput.hasSuffix("\n"), !errorOutput.dropLast().contains("\n") else { return nil }
        return String(errorOutput.dropLast())
    }
}

/// A command line that can't work, and what the error message has to say about it.
struct Mistake: CustomTestStringConvertible, Sendable {
    let words: [String]
    let exitCode: Int32
    /// What the message names: the option, and what would be right.
    let says: [String]

    /// Creates a mistake; `line` is split at spaces.
    init(_ line: String, _ exitCode: Int32, says: String...) {
        words = line.split(separator: " ").map(String.init)
        self.exitCode = exitCode
        self.says = says
    }

    var testDescription: String { words.joined(separator: " ") }
}
