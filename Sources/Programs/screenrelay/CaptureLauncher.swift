import CommandLine
import Glibc

/// `screenrelay capture`: replaces this process by screenrelay-capture, which links far fewer libraries.
enum CaptureLauncher {
    static let command: Command = {
        var command = Command.captureProgram
        command.name = "capture"
        command.summary = "Captures a display for 'screenrelay host', which runs separately."
        command.examples = command.examples.map { example in
            guard example.line.hasPrefix("screenrelay-capture ") else { return example }
            return Example("screenrelay capture" + example.line.dropFirst(19), example.meaning)
        }
        return command.withSettings
    }()

    /// The capture program in the same folder as this one, where both are installed and built. Nil if it isn't there.
    static var program: String? {
        guard let own = Program.path, let slash = own.lastIndex(of: "/") else { return nil }
        let path = String(own[...slash]) + "screenrelay-capture"
        return access(path, X_OK) == 0 ? path : nil
    }

    static let missing = "the program screenrelay-capture is not in this program's folder; install or build both"

    /// Replaces this process by a capture with the options from the command line and the settings file. Returns only if
    /// that fails.
    static func run(_ options: ParsedOptions) throws(UsageError) -> Int32 {
        // Check the values here: the other program can't name their position in the settings file.
        _ = try CaptureOptions(options)
        return become(options.arguments(leavingOut: [Option.config.long, Option.noConfig.long])).rawValue
    }

    /// Replaces this process by a capture with these arguments. Returns only if that fails.
    static func become(_ arguments: [String]) -> ExitCode {
        guard let program else {
            StandardStreams.printError(missing, program: Program.name)
            return .unavailable
        }
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &pointers)
        let reason = String(cString: strerror(errno))
        for pointer in pointers { free(pointer) }
        StandardStreams.printError("\(program) can't be started: \(reason)", program: Program.name)
        return .system
    }
}
