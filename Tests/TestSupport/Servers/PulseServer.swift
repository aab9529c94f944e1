import Glibc
import MediaTypes
public import Processes

/// A PulseAudio server for one test: with a socket of its own, and a sink that plays to nobody.
public final class PulseServer {
    /// Whether the server and its tools are installed.
    public static var isAvailable: Bool {
        ["pulseaudio", "pactl", "paplay", "parec"].allSatisfy { ProgramLookup.path(of: $0) != nil }
    }

    /// What clients connect to.
    public let address: String
    public let process: ChildProcess
    private let folder: TemporaryFolder

    /// Starts a server in `folder`, and waits until it answers. Another one in the same folder, started after the first
    /// has ended, has the same address. The first of `sinks` is the default.
    public init(in folder: TemporaryFolder, sinks: [String] = ["out"]) throws {
        self.folder = folder
        let socket = folder.file("pulse.sock")
        address = "unix:" + socket
        // A server that was killed leaves it behind.
        unlink(socket)
        var arguments = ["--exit-idle-time=-1", "--daemonize=no", "-n", "--use-pid-file=no", "--realtime=no"]
        let modules =
            ["module-native-protocol-unix auth-anonymous=1 socket=\(socket)"]
            + sinks.map { "module-null-sink sink_name=\($0) rate=48000" }
        for module in modules { arguments += ["-L", module] }
        var launch = Launch("pulseaudio", arguments)
        launch.environment = Self.environment(folder)
        launch.standardOutput = .null
        launch.standardError = .text(limit: 1 << 16)
        process = try ChildProcess(launch)
        try eventually("the PulseAudio server answers") { try pactl(["info"]).isSuccess }
        if let first = sinks.first { _ = try pactl(["set-default-sink", first]) }
    }

    deinit { process.stop(within: .zero) }

    /// Ends the server as a crash would.
    public func kill() { process.stop(within: .zero) }

    /// Plays the interleaved samples on the default sink or on `sink`, at 48 kHz; the process ends with them. With no
    /// `latency`, in milliseconds, the player fills its buffer as far as it likes, which is two seconds.
    public func play(
        _ samples: [Float], channelCount: Int, on sink: String? = nil, latency: Int? = 500
    ) throws -> ChildProcess {
        let path = try folder.write("\(now().nanoseconds).raw", samples.withUnsafeBytes { Array($0) })
        // With little in its buffer, a player on a busy machine leaves holes in what it plays.
        var arguments = [
            "--server=\(address)", "--raw", "--format=float32le", "--rate=48000", "--channels=\(channelCount)",
        ]
        if let latency { arguments.append("--latency-msec=\(latency)") }
        if let sink { arguments.append("--device=\(sink)") }
        var launch = Launch("paplay", arguments + [path])
        launch.environment = Self.environment(folder)
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess(launch)
    }

    /// Plays a sine of 440 Hz for a minute, at half the full amplitude.
    public func playTone(channelCount: Int = 2, on sink: String? = nil) throws -> ChildProcess {
        try play(tone(440, seconds: 60, channelCount: channelCount), channelCount: channelCount, on: sink)
    }

    /// What the sink `out` plays in the next half second: samples of one channel at 48 kHz.
    public func recorded() throws -> [Float] {
        let path = folder.file("\(now().nanoseconds).raw")
        var launch = Launch(
            "parec",
            [
                "--server=\(address)", "--device=out.monitor", "--raw", "--format=float32le", "--rate=48000",
                "--channels=1", "--latency-msec=50", path,
            ])
        launch.environment = Self.environment(folder)
        launch.standardError = .text(limit: 1 << 16)
        let recorder = try ChildProcess(launch)
        defer { recorder.stop(within: .zero) }
        let count = 24_000
        return try eventually("half a second of sound") {
            let bytes = (try? fileBytes(path)) ?? []
            guard bytes.count >= count * MemoryLayout<Float>.size else { return nil }
            return bytes.withUnsafeBytes { raw in
                (0..<count).map { raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Float>.size, as: Float.self) }
            }
        }
    }

    /// Runs pactl, as in `["load-module", "module-null-sink"]`.
    @discardableResult
    public func pactl(_ arguments: [String]) throws -> ProcessStatus {
        var launch = Launch("pactl", ["--server=\(address)"] + arguments)
        launch.environment = Self.environment(folder)
        launch.standardOutput = .null
        launch.standardError = .null
        return try ChildProcess.run(launch, within: .seconds(10)).status ?? .signaled(SIGKILL)
    }

    private static func environment(_ folder: TemporaryFolder) -> [String: String?] {
        [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "PULSE_RUNTIME_PATH": folder.file("pulse"),
            "PULSE_STATE_PATH": folder.file("pulse-state"), "DBUS_SESSION_BUS_ADDRESS": nil,
        ]
    }
}
