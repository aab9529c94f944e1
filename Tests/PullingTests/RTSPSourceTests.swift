import Glibc
import MediaTypes
import Processes
import Pulling
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

/// A program that serves H.264 and PCMU by GStreamer's RTSP server.
private enum GStreamerServer {
    static let program = packageRoot + "/Tests/PullingTests/rtsp_gstreamer.py"

    /// Whether all that the program needs is there.
    static var isAvailable: Bool {
        let check = try? ChildProcess.run(Launch("/usr/bin/python3", [program, "--check"]), within: .seconds(30))
        return check?.status == .exited(0)
    }
}

@Suite(
    "Sources of GStreamer's RTSP server", .enabled(if: FFmpeg.isAvailable && GStreamerServer.isAvailable), .serialized)
struct RTSPSourceTests {
    /// Starts the server, and waits until it listens.
    private func serve(_ port: UInt16) throws -> ChildProcess {
        var launch = Launch("/usr/bin/python3", [GStreamerServer.program, "\(port)"])
        launch.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        launch.standardOutput = .text(limit: 1 << 12)
        launch.standardError = .text(limit: 1 << 16)
        let server = try ChildProcess(launch)
        try eventually("the server listens") { server.output?.text.contains("ready") == true }
        return server
    }

    @Test("its pictures come and can be decoded, its sound is heard, and both come back after a kill")
    func server() throws {
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let port = try freePort(.tcp)
        var server = try serve(port)
        var settings = Pull.Settings()
        settings.firstWait = .milliseconds(50)
        settings.longestWait = .milliseconds(500)
        let lines = LoggedLines()
        let reader = host.firstTrack.subscribe {}
        var sound = try HeardSound(host.firstTrack)
        let address = try PullAddress("rtsp://127.0.0.1:\(port)/live")
        let pull = try Pull(address, into: host.firstTrack, settings: settings, log: lines.log)
        defer { pull.stop() }
        var received: [CodedFrame] = []
        try eventually("pictures") {
            received += reader.take().map(\.coded)
            return received.count >= 30
        }
        #expect(lines.contain("sends H.264 of 320x240, and pcm_mulaw, which is encoded once more to Opus"))
        try eventually("the tone") {
            try sound.take()
            return sound.isTone(from: sound.samples.count - 24_000)
        }
        let raw = try folder.write("received.264", received.flatMap(\.bytes))
        let decoded = try FFmpeg.decode(raw, input: ["-f", "h264"])
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count == received.count * 320 * 240 * 3)

        server.stop(within: .zero)
        try eventually("the end is told") {
            host.firstTrack.sourceState != .live && host.firstTrack.soundState == SoundState.none
        }
        server = try serve(port)
        let before = pull.pictures
        try eventually("it is back") { pull.pictures > before && host.firstTrack.sourceState == .live }
        sound = try HeardSound(host.firstTrack)
        try eventually("the tone is back") {
            try sound.take()
            return sound.isTone(from: sound.samples.count - 24_000)
        }
        #expect(server.poll() == nil)
    }

    @Test("it is asked to pause while nobody watches or listens, and plays again for a listener alone")
    func idle() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let port = try freePort(.tcp)
        let server = try serve(port)
        defer { server.stop(within: .zero) }
        var settings = Pull.Settings()
        settings.idle = .milliseconds(200)
        var sound: HeardSound? = try HeardSound(host.firstTrack)
        let pull = try Pull(
            try PullAddress("rtsp://127.0.0.1:\(port)/live"), into: host.firstTrack, settings: settings)
        defer { pull.stop() }
        // A listener alone keeps it going for longer than that.
        try eventually("the tone") {
            try sound?.take()
            return sound.map { $0.isTone(from: $0.samples.count - 24_000) } == true && pull.pictures > 25
        }
        sound = nil
        var before = -1
        try eventually("nothing comes any more") {
            defer { before = pull.pictures }
            poll(nil, 0, 300)
            return pull.pictures == before
        }
        sound = try HeardSound(host.firstTrack)
        try eventually("it goes on") {
            try sound?.take()
            return sound.map { $0.isTone(from: $0.samples.count - 24_000) } == true && pull.pictures > before
        }
    }
}
