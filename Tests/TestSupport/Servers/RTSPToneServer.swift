import Processes

/// A program that serves H.264 and a tone in PCMU by GStreamer's RTSP server (`Tests/PullingTests/rtsp_gstreamer.py`).
/// It ends when it is released.
public final class RTSPToneServer: Sendable {
    /// Where the pictures and the tone are.
    public let url: String
    /// Where pictures are alone, with the headers of a key frame before each of its two slices.
    public let urlOfParts: String
    /// The same pictures from a server that sends by UDP only.
    public let urlByUDP: String
    private let child: ChildProcess

    private static let program = packageRoot + "/Tests/PullingTests/rtsp_gstreamer.py"

    /// Whether all that the program needs is there.
    public static let isAvailable: Bool = {
        let check = try? ChildProcess.run(Launch("/usr/bin/python3", [program, "--check"]), within: .seconds(90))
        return check?.status == .exited(0)
    }()

    /// Starts it, and waits until it listens at `port`.
    public init(port: UInt16) throws {
        url = "rtsp://127.0.0.1:\(port)/live"
        urlOfParts = "rtsp://127.0.0.1:\(port)/parts"
        urlByUDP = "rtsp://127.0.0.1:\(port)/udp"
        var launch = Launch("/usr/bin/python3", [Self.program, "\(port)"])
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        launch.standardOutput = .text(limit: 1 << 12)
        launch.standardError = .text(limit: 1 << 16)
        let child = try ChildProcess(launch)
        self.child = child
        try eventually("the server listens") { child.output?.text.contains("ready") == true }
    }

    deinit { stop() }

    /// Kills it. Idempotent.
    public func stop() { child.stop(within: .zero) }

    /// Whether it runs.
    public var isRunning: Bool { child.poll() == nil }
}
