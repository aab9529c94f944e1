import CommandLine
import Glibc
import ScreenRelayKit

/// `screenrelay`: the host, the host with a capture of its own, and what people need beside them.
@main
enum Program {
    static let name = "screenrelay"

    static let commands = CommandSet(
        program: name,
        summary: "Shares an X screen to a room, where whoever has the link sees it in a browser.",
        version: screenRelayVersion,
        commands: [ShareCommand.command, HostCommand.command, CaptureCommand.command, SnapshotCommand.command])

    static func main() {
        let arguments = Array(Swift.CommandLine.arguments.dropFirst())
        // What follows is the other program's own command line, --help and all.
        if arguments.first == CaptureCommand.command.name {
            exit(CaptureCommand.run(Array(arguments.dropFirst())).rawValue)
        }
        exit(run(arguments))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        do throws(UsageError) {
            switch try commands.select(arguments) {
            case .print(let text):
                return StandardStreams.print(text) ? ExitCode.success.rawValue : ExitCode.system.rawValue
            case .run(let command, let options):
                switch command {
                case ShareCommand.command.name: return try ShareCommand.run(options)
                case HostCommand.command.name: return try HostCommand.run(options)
                default: return try SnapshotCommand.run(options)
                }
            }
        } catch {
            return fail(error.description, error.exitCode)
        }
    }

    /// Says why on standard error, in one line.
    static func fail(_ reason: String, _ code: ExitCode) -> Int32 {
        StandardStreams.printError(reason, program: name)
        return code.rawValue
    }
}
