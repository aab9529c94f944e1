import Glibc
import H264
import MediaFiles
import MediaTypes
import OutputLife
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@Suite("Pushing to srt-live-transmit", .enabled(if: FFmpeg.isAvailable && SRTRelay.isAvailable), .serialized)
struct SRTServerTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let track: CustomVideoTrack
    private let pictures: LoopedPictures

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        track = CustomVideoTrack(feedback: .init(keyFrameWanted: { pictures.startOver() }))
        self.pictures = pictures
        #expect(host.firstTrack.publish(track))
    }

    /// Writes pictures, 50 a second at most, until the condition holds.
    private func write(until what: String, holds condition: () throws -> Bool) throws {
        try eventually(what, within: .seconds(90)) {
            track.write(pictures.next())
            poll(nil, 0, 15)
            return try condition()
        }
    }

    @Test("a player at the relay gets every picture byte for byte, and a relay that was started again is found again")
    func relayed() throws {
        defer { host.stop() }
        let ports = (input: try freePort(), output: try freePort())
        let relay = try SRTRelay(ports: ports)
        let told = Told()
        var settings = PushSettings()
        settings.tries = 3
        let address = try PushAddress(relay.input + "?latency=1000000")
        let push = try Push(host.firstTrack, to: address, settings: settings) { told.take($0) }
        push.start()
        try receive(from: relay)
        relay.process.stop(within: .zero)
        try write(until: "it has noticed") { push.state == .autoReconnecting }
        let again = try SRTRelay(ports: ports)
        try write(until: "it is connected again") { push.state == .connected }
        try receive(from: again)
        #expect(!told.states.contains(.error))
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
    }

    @Test(
        "a push that listens waits for its receiver for long, begins with what is new, and waits again once that left")
    func listening() throws {
        defer { host.stop() }
        // Another user of libsrt keeps it from freeing what a connection forgets.
        try #require(startSRT() >= 0)
        defer { _ = endSRT() }
        let port = try freePort()
        var settings = PushSettings()
        settings.connectTimeout = .milliseconds(200)
        let address = try PushAddress("srt://127.0.0.1:\(port)?mode=listener&latency=1000000")
        let told = Told()
        let push = try Push(host.firstTrack, to: address, settings: settings) { told.take($0) }
        push.start()
        let begin = now()
        try write(until: "it has waited for longer than that") { now() - begin > .seconds(4) }
        #expect(push.state == .connecting)
        try listen(port)
        // Whoever has received leaves, and the next one finds it listening again.
        do {
            try write(until: "it waits again") { told.states == [.connecting, .connected, .connecting] }
        } catch {
            Issue.record("\(told.states), \(told.failures), \(told.statuses.suffix(2))")
            throw error
        }
        try listen(port)
        #expect(told.failures.isEmpty)
        push.stop()
        try eventually("it has ended") { push.state.isOver }
    }

    /// Has FFmpeg receive two seconds from the push that listens, and leave.
    private func listen(_ port: UInt16) throws {
        let raw = folder.file("received.ts")
        let input = ["-i", "srt://127.0.0.1:\(port)?latency=1000000", "-c", "copy", "-t", "2", "-f", "mpegts", raw]
        var launch = Launch("ffmpeg", ["-nostdin", "-v", "error", "-y"] + input)
        launch.standardError = .text(limit: 1 << 16)
        let player = try ChildProcess(launch)
        try write(until: "the player has its pictures") { player.poll() != nil }
        #expect(player.poll() == .exited(0), "\(player.errorOutput?.text ?? "")")
        let decoded = try FFmpeg.decode(raw)
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        // Were the first picture from before, the two seconds would have hardly another.
        #expect(decoded.bytes.count > 20 * 176 * 144 * 3)
    }

    /// Has FFmpeg receive pictures from the relay while they are written.
    private func receive(from relay: SRTRelay) throws {
        let raw = folder.file("received.264")
        var launch = Launch(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-y", "-i", relay.output, "-c", "copy", "-frames:v", "60", "-f", "h264", raw])
        launch.standardError = .text(limit: 1 << 16)
        let player = try ChildProcess(launch)
        try write(until: "the player has its pictures") { player.poll() != nil }
        #expect(player.poll() == .exited(0), "\(player.errorOutput?.text ?? "")")

        let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
        #expect(received.count == 60)
        #expect(pictures.contains(received), "\(pictures.places(of: received))")
        let decoded = try FFmpeg.decode(raw, input: ["-f", "h264"])
        #expect(decoded.faults.isEmpty, "\(decoded.messages)")
        #expect(decoded.bytes.count == received.count * 176 * 144 * 3)
    }
}
