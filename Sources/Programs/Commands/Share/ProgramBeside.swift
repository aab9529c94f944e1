import CommandLine
import Glibc

/// A program in the same folder as this one, where all of them are installed and built.
struct ProgramBeside {
    static let capture = ProgramBeside(name: "screenrelay-capture")
    static let sound = ProgramBeside(name: "screenrelay-sound")

    let name: String

    /// Its path, or nil if it isn't there.
    var path: String? {
        guard let own = Program.path, let slash = own.lastIndex(of: "/") else { return nil }
        let path = String(own[...slash]) + name
        return access(path, X_OK) == 0 ? path : nil
    }

    /// What to tell a user for whom it isn't there.
    var missing: String { "the program \(name) is not in this program's folder; install or build all programs" }

    /// The command `name` of this program that replaces it by that one, whose option table is `table`.
    func command(_ name: String, _ summary: String, _ table: Command) -> Command {
        var command = table
        command.name = name
        command.summary = summary
        command.examples = command.examples.map { example in
            guard example.line.hasPrefix(self.name + " ") else { return example }
            return Example("screenrelay \(name)" + example.line.dropFirst(self.name.count), example.meaning)
        }
        return command.withSettings
    }

    /// Replaces this process by that program with these arguments. Returns only if that fails.
    func become(_ arguments: [String]) -> ExitCode {
        guard let path else {
            StandardStreams.printError(missing, program: Program.name)
            return .unavailable
        }
        var pointers = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &pointers)
        let reason = String(cString: strerror(errno))
        for pointer in pointers { free(pointer) }
        StandardStreams.printError("\(path) can't be started: \(reason)", program: Program.name)
        return .system
    }
}

extension ParsedOptions {
    /// The options of the command line and the settings file, for a program that reads no settings file.
    var argumentsWithoutSettings: [String] { arguments(leavingOut: [Option.config.long, Option.noConfig.long]) }
}
