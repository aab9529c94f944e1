import CommandLine
import Glibc

/// Watches a room as many viewers at once, disturbs a host, and measures the least that sending to viewers can cost.
@main
enum ViewersBench {
    static let program = "bench-viewers"

    private static let commands = CommandSet(
        program: program,
        summary: "Watches a room as many viewers in one thread, disturbs a host, and measures the least that sending "
            + "costs here.",
        version: programVersion,
        commands: [GenerateCommand.command, StreamCommand.command, AttackCommand.command, FloorCommand.command],
        firstCommands: [GenerateCommand.command.name, FloorCommand.command.name])

    static func main() {
        exit(
            commands.run(complete: { _, options in options }) { command, options in
                switch command {
                case AttackCommand.command.name: try AttackCommand.run(options).rawValue
                case FloorCommand.command.name: try FloorCommand.run(options).rawValue
                case StreamCommand.command.name: try StreamCommand.run(options).rawValue
                default: try GenerateCommand.run(options).rawValue
                }
            })
    }
}

/// Why something can't be measured, in words for the user.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// The failure of a system call, whose reason is in `errno`.
    static func system(_ step: String) -> BenchFailure {
        let number = errno
        return BenchFailure("\(step): \(String(cString: strerror(number)))")
    }
}
