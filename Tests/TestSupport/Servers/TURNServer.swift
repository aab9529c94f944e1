import Glibc
import Processes

/// A STUN and TURN server that gives addresses and relays nothing, on one port of 127.0.0.1 for UDP and TCP
/// (`Tests/DiagnosisTests/turn_server.py`, written from the specifications alone). It ends when it is released.
public final class TURNServer: Sendable {
    /// Its port.
    public let port: UInt16
    private let child: ChildProcess

    /// Whether Python is there.
    public static var isAvailable: Bool { access("/usr/bin/python3", X_OK) == 0 }

    /// Starts it with these options, which its first lines describe.
    public init(_ options: [String]) throws {
        let program = packageRoot + "/Tests/DiagnosisTests/turn_server.py"
        var launch = Launch("/usr/bin/python3", [program] + options)
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        launch.standardOutput = .text(limit: 1 << 16)
        launch.standardError = .text(limit: 1 << 16)
        let child = try ChildProcess(launch)
        self.child = child
        port = try eventually("the TURN server's port") {
            let lines = child.output?.text.split(separator: "\n", omittingEmptySubsequences: false) ?? []
            return lines.dropLast().first.flatMap { UInt16($0) }
        }
    }

    deinit { child.stop(within: .zero) }

    /// How many addresses it has given, and how many it has got back.
    public var counts: (allocated: Int, freed: Int) {
        let lines = child.output?.text.split(separator: "\n") ?? []
        return (lines.count { $0 == "allocated" }, lines.count { $0 == "freed" })
    }
}
