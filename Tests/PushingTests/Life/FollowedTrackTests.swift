import Glibc
import H264
import MediaTypes
import OutputLife
import Processes
import Pushing
import ScreenRelayKit
import TestSupport
import Testing

@Suite("A push of a track that comes and goes", .enabled(if: FFmpeg.isAvailable), .serialized)
final class FollowedTrackTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let pictures: [CodedFrame]
    private let told = Told()

    init() throws {
        folder = try TemporaryFolder()
        host = try ScreenRelayHost(HostConfiguration())
        pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
    }

    deinit { host.stop() }

    private func start(_ target: PushTarget, _ settings: PushSettings = PushSettings()) throws -> Push {
        let film = host.followedTrack("film", in: host.room)
        let push = try Push(film, to: target, settings: settings) { [told] in told.take($0) }
        push.start()
        return push
    }

    /// Adds the track, and a source that makes no key frame when it is asked.
    private func addTrack() throws -> (hosted: HostedTrack, source: CustomVideoTrack) {
        let source = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        let hosted = try host.addTrack("film", to: host.room)
        #expect(hosted.publish(source))
        return (hosted, source)
    }

    private func removeTrack(_ source: CustomVideoTrack) {
        source.end(reason: "it was a test")
        host.removeTrack("film", from: host.room)
    }

    @Test("waits for it, sends every picture byte for byte, ends with it, and connects again when it returns")
    func returning() throws {
        let port = try freePort()
        let push = try start(PushTarget(try PushAddress("rtmp://127.0.0.1:\(port)/live/key")))
        try eventually("it waits") { push.state == .waiting }
        // Nothing of the first track is sent.
        let first = CustomVideoTrack(feedback: .init(keyFrameWanted: {}))
        #expect(host.firstTrack.publish(first))
        for round in 1...2 {
            let server = try MediaReceiver(.rtmp, port: port, in: folder)
            let (hosted, source) = try addTrack()
            // Written before, the host would make a key frame of the first picture.
            try eventually("it watches") { hosted.viewers == 1 }
            #expect(host.firstTrack.viewers == 0)
            source.write(pictures[0])
            try eventually("it is connected") { push.state == .connected }
            for picture in pictures.dropFirst() {
                poll(nil, 0, 20)
                source.write(picture)
            }
            removeTrack(source)
            try eventually("it waits again") { push.state == .waiting }
            #expect(server.process.wait(within: .seconds(90)) == .exited(0))
            try eventually("nobody watches any more") { hosted.viewers == 0 }
            let raw = folder.file("\(round).264")
            let copied = try FFmpeg.run(["-i", server.file, "-c", "copy", "-f", "h264", raw])
            #expect(copied.status == .exited(0), "\(copied.messages)")
            let received = AccessUnitBuilder.accessUnits(inAnnexB: try fileBytes(raw))
            #expect(received.map(\.slices).starts(with: pictures.map(\.slices)))
        }
        let life: [OutputState] = [.connecting, .connected, .disconnecting, .waiting]
        #expect(told.states == [.waiting] + life + life && told.failures == [])
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
    }

    @Test("retries, starts again when the track returns, and stays in error once it has failed")
    func retrying() throws {
        var settings = PushSettings()
        // The last one is seconds later.
        settings.tries = 3
        let push = try start(
            PushTarget(try PushAddress("rtmp://127.0.0.1:\(try freePort())/live/key")), settings)
        for _ in 0..<2 {
            let (_, source) = try addTrack()
            source.write(pictures[0])
            try eventually("it tries again") { push.state == .autoReconnecting }
            removeTrack(source)
            try eventually("it waits again") { push.state == .waiting }
            #expect(push.failure == nil)
        }
        let (_, source) = try addTrack()
        try eventually("it has failed") {
            source.write(pictures[0])
            return push.state == .error
        }
        // Only its user can start it again.
        removeTrack(source)
        let (_, next) = try addTrack()
        next.write(pictures[0])
        push.restart()
        try eventually("it tries again") { push.state == .autoReconnecting }
        #expect(told.states.count { $0 == .error } == 1)
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
    }

    @Test("ends as soon as it is stopped while it waits")
    func never() throws {
        let push = try start(try PushTarget("whip:http://127.0.0.1:\(try freePort())/whip"))
        try eventually("it waits") { push.state == .waiting }
        push.stop()
        try eventually("it has ended") { push.state == .disconnected }
        #expect(told.states == [.waiting, .disconnecting, .disconnected])
    }
}
