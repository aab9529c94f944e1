import Glibc
import MediaTypes
import Pulling
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

@Suite(
    "Sources of GStreamer's RTSP server", .enabled(if: FFmpeg.isAvailable && RTSPToneServer.isAvailable), .serialized)
struct RTSPSourceTests {
    @Test("its pictures come and can be decoded, its sound is heard, and both come back after a kill")
    func server() throws {
        let folder = try TemporaryFolder()
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let port = try freePort()
        var server = try RTSPToneServer(port: port)
        var settings = Pull.Settings()
        settings.firstWait = .milliseconds(50)
        settings.maxWait = .milliseconds(500)
        let lines = LoggedLines()
        let reader = host.firstTrack.subscribe {}
        var sound = try HeardSound(host.firstTrack)
        let pull = try Pull(try PullAddress(server.url), into: host.firstTrack, settings: settings, log: lines.log)
        defer { pull.stop() }
        var received: [CodedFrame] = []
        try eventually("pictures") {
            received += reader.take().map(\.coded)
            return received.count >= 30
        }
        #expect(lines.contain("sends H.264 of 320x240, and pcm_mulaw, which is converted to Opus"))
        try eventually("the tone") {
            try sound.take()
            return sound.isTone(from: sound.samples.count - 24_000)
        }
        let raw = try folder.write("received.264", received.flatMap(\.bytes))
        let decoded = try FFmpeg.decode(raw, input: ["-f", "h264"])
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count == received.count * 320 * 240 * 3)

        server.stop()
        try eventually("the end is told") {
            host.firstTrack.sourceState != .live && host.firstTrack.soundState == AudioState.none
        }
        server = try RTSPToneServer(port: port)
        let before = pull.pictures
        try eventually("it is back") { pull.pictures > before && host.firstTrack.sourceState == .live }
        sound = try HeardSound(host.firstTrack)
        try eventually("the tone is back") {
            try sound.take()
            return sound.isTone(from: sound.samples.count - 24_000)
        }
        #expect(server.isRunning)
    }

    @Test("a server that offers only UDP is read over UDP")
    func overUDP() throws {
        let server = try RTSPToneServer(port: freePort())
        defer { server.stop() }
        let received = try received(from: server.urlByUDP, LoggedLines()) { $0.count >= 30 }
        #expect(try decoded(received).bytes.count >= 25 * 320 * 240 * 3)
    }

    /// What has come from this source when `isEnough` holds.
    private func received(
        from url: String, _ lines: LoggedLines, until isEnough: ([CodedFrame]) -> Bool
    ) throws -> [CodedFrame] {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let reader = host.firstTrack.subscribe {}
        let pull = try Pull(try PullAddress(url), into: host.firstTrack, log: lines.log)
        defer { pull.stop() }
        var received: [CodedFrame] = []
        try eventually("enough frames") {
            received += reader.take().map(\.coded)
            return isEnough(received)
        }
        return received
    }

    private func decoded(_ frames: [CodedFrame]) throws -> FFmpeg.Result {
        let folder = try TemporaryFolder()
        let raw = try folder.write("received.264", frames.flatMap(\.bytes))
        return try FFmpeg.decode(raw, input: ["-f", "h264"])
    }

    @Test("a key frame with its headers before each of its slices is one picture, which can be decoded")
    func parts() throws {
        let server = try RTSPToneServer(port: freePort())
        defer { server.stop() }
        let lines = LoggedLines()
        let received = try received(from: server.urlOfParts, lines) { $0.count { $0.isRandomAccess } >= 3 }
        // FFmpeg 7 gives such a key frame whole.
        #expect(lines.count("have parameter sets between their slices") <= 1)
        let keyFrames = received.filter { $0.isRandomAccess }
        let slices = keyFrames.map { frame in frame.units.count { frame.bytes[$0.lowerBound] & 31 == 5 } }
        #expect(slices.allSatisfy { $0 == 2 }, "\(slices)")
        let decoded = try decoded(received)
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count == received.count * 320 * 240 * 3)
    }

    @Test("it is asked to pause while nobody watches or listens, and plays again for a listener alone")
    func idle() throws {
        let host = try ScreenRelayHost(HostConfiguration())
        defer { host.stop() }
        let server = try RTSPToneServer(port: freePort())
        defer { server.stop() }
        var settings = Pull.Settings()
        settings.idle = .milliseconds(200)
        var sound: HeardSound? = try HeardSound(host.firstTrack)
        let pull = try Pull(
            try PullAddress(server.url), into: host.firstTrack, settings: settings)
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
