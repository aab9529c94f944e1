import CommandLine
import Glibc

/// `screenrelay`: the host with or without its own capture, and the commands around them.
public enum Program {
    static let name = "screenrelay"

    static let commands = CommandSet(
        program: name,
        summary: "Shares an X screen with web browsers: everyone who has the invite link can watch it.",
        version: programVersion,
        commands: commandsWithSettings + [ViewCommand.command, DoctorCommand.command.withSettings]
            + ControlTable.rows.map(\.command)
            + SetupCommands.commands,
        namedGroups: [PushOption.group],
        firstCommands: ["share", "link", "status", "pause", "doctor"])

    /// The commands that read settings files.
    static let commandsWithSettings = [
        ShareCommand.command.withSettings, HostCommand.command.withSettings, CaptureLauncher.command,
        SoundLauncher.command, ReplayCommand.command.withSettings, SnapshotCommand.command.withSettings,
        InspectCommand.command.withSettings, ExportCommand.command.withSettings,
    ]

    /// Runs the command that the process's arguments name, and ends the process with its exit code. On the main thread.
    public static func run() -> Never {
        exit(
            commands.run(complete: completed) { command, options in
                switch command {
                case ShareCommand.command.name: try ShareCommand.run(options)
                case HostCommand.command.name: try HostCommand.run(options)
                case DoctorCommand.command.name: try DoctorCommand.run(options)
                case CaptureLauncher.command.name: try CaptureLauncher.run(options)
                case SoundLauncher.command.name: SoundLauncher.run(options)
                case ReplayCommand.command.name: try ReplayCommand.run(options)
                case SnapshotCommand.command.name: try SnapshotCommand.run(options)
                case ViewCommand.command.name: try ViewCommand.run(options)
                case InspectCommand.command.name: try InspectCommand.run(options)
                case ExportCommand.command.name: try ExportCommand.run(options)
                default: try SetupCommands.run(command, options) ?? Control.run(command, options)
                }
            })
    }

    /// The options of a command, completed by the settings file. `doctor` reads the file itself.
    private static func completed(_ command: String, _ options: ParsedOptions) throws(UsageError) -> ParsedOptions {
        if command == DoctorCommand.command.name { return options }
        return try SettingsLookup.complete(options, of: command)
    }

    /// The path of the program, or nil if the system doesn't report it.
    static var path: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Prints the result of a command, and returns the exit code.
    static func answer(_ text: String) -> Int32 { StandardStreams.answer(text, program: name).rawValue }

    /// Prints an error as one line on standard error, and returns the exit code.
    static func fail(_ reason: String, _ code: ExitCode) -> Int32 {
        StandardStreams.printError(reason, program: name)
        return code.rawValue
    }
}
