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
        commands: [
            ShareCommand.command, HostCommand.command, CaptureCommand.command, ReplayCommand.command,
            SnapshotCommand.command,
            InspectCommand.command, ExportCommand.command,
        ] + Control.commands)

    static func main() {
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        // What follows is the other program's own command line, --help and all.
        if arguments.first == CaptureCommand.command.name {
            exit(CaptureCommand.run(Array(arguments.dropFirst())).rawValue)
        }
        exit(
            commands.run(arguments: arguments) { command, options in
                switch command {
                case ShareCommand.command.name: try ShareCommand.run(options)
                case HostCommand.command.name: try HostCommand.run(options)
                case ReplayCommand.command.name: try ReplayCommand.run(options)
                case SnapshotCommand.command.name: try SnapshotCommand.run(options)
                case InspectCommand.command.name: try InspectCommand.run(options)
                case ExportCommand.command.name: try ExportCommand.run(options)
                default: try Control.run(command, options)
                }
            })
    }

    /// Says why on standard error, in one line.
    static func fail(_ reason: String, _ code: ExitCode) -> Int32 {
        StandardStreams.printError(reason, program: name)
        return code.rawValue
    }
}
