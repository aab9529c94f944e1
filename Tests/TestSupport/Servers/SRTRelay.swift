public import Processes

/// `srt-live-transmit`, which passes what one sender sends by SRT to one player.
public final class SRTRelay {
    /// Where to send.
    public let input: String
    /// Where a player finds it.
    public let output: String
    public let process: ChildProcess

    /// Whether it is installed.
    public static var isAvailable: Bool { ProgramLookup.path(of: "srt-live-transmit") != nil }

    /// Starts the relay at two ports of UDP, and waits until it listens.
    public init(ports: (input: UInt16, output: UInt16)) throws {
        let places = [ports.input, ports.output].map { "srt://127.0.0.1:\($0)" }
        input = places[0]
        output = places[1]
        // What is late is lost, and a busy machine is late.
        var launch = Launch("srt-live-transmit", ["-q"] + places.map { $0 + "?mode=listener&latency=1000" })
        launch.standardOutput = .null
        launch.standardError = .text(limit: 1 << 16)
        process = try ChildProcess(launch)
        try eventually("the relay listens") {
            try [ports.input, ports.output].allSatisfy { try MediaReceiver.isBound($0, in: "/proc/net/udp") }
        }
    }

    deinit { process.stop(within: .zero) }
}
