import CommandLine
import Glibc
import MediaTypes

/// `screenrelay`: the host, the host with a capture of its own, and what people need beside them.
@main
enum Program {
    static let name = "screenrelay"

    static let commands = CommandSet(
        program: name,
        summary: "Shares an X screen to a room, where whoever has the link sees it in a browser.",
        version: screenRelayVersion,
        commands: commandsWithSettings + Control.commands + Housekeeping.commands)

    /// Those that a settings file can be for.
    static let commandsWithSettings = [
        ShareCommand.command.withSettings, HostCommand.command.withSettings, CaptureCommand.command,
        ReplayCommand.command.withSettings, SnapshotCommand.command.withSettings, InspectCommand.command.withSettings,
        ExportCommand.command.withSettings,
    ]

    static func main() {
        exit(
            commands.run(complete: { try SettingsLookup.complete($1, of: $0) }) { command, options in
                switch command {
                case ShareCommand.command.name: try ShareCommand.run(options)
                case HostCommand.command.name: try HostCommand.run(options)
                case CaptureCommand.command.name: try CaptureCommand.run(options)
                case ReplayCommand.command.name: try ReplayCommand.run(options)
                case SnapshotCommand.command.name: try SnapshotCommand.run(options)
                case InspectCommand.command.name: try InspectCommand.run(options)
                case ExportCommand.command.name: try ExportCommand.run(options)
                default: try Housekeeping.run(command, options) ?? Control.run(command, options)
                }
            })
    }

    /// Where the program is; nil where the system doesn't tell.
    static var path: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Prints what was asked for; gives what to end with.
    static func answer(_ text: String) -> Int32 { StandardStreams.answer(text, program: name).rawValue }

    /// Says why on standard error, in one line.
    static func fail(_ reason: String, _ code: ExitCode) -> Int32 {
        StandardStreams.printError(reason, program: name)
        return code.rawValue
    }
}
