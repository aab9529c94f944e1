import Glibc
import H264
import MediaTypes
import OutputLife
import Processes
import Pulling
import Pushing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub
import VideoDecoding

private let hasServers = FFmpeg.isAvailable && NginxServer.isAvailable && SRTRelay.isAvailable

@Suite("Sources that others push to", .enabled(if: hasServers), .serialized)
struct RelayedSourceTests {
    private let folder: TemporaryFolder
    private let near: ScreenRelayHost
    private let far: ScreenRelayHost
    private let track: CustomVideoTrack
    private let pictures: LoopedPictures

    init() throws {
        folder = try TemporaryFolder()
        near = try ScreenRelayHost(HostConfiguration())
        far = try ScreenRelayHost(HostConfiguration())
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        track = CustomVideoTrack(feedback: .init(keyFrameWanted: { pictures.startOver() }))
        self.pictures = pictures
        #expect(far.firstTrack.publish(track))
    }

    /// Pushes the far host's track to `input`, reads it from `output`, and compares.
    private func relay(from input: String, to output: String) throws {
        defer {
            near.stop()
            far.stop()
        }
        let push = try far.push(to: try PushAddress(input))
        try eventually("it is connected") {
            track.write(pictures.next())
            poll(nil, 0, 15)
            return push.state == .connected
        }
        let reader = near.firstTrack.subscribe {}
        let lines = LoggedLines()
        let pull = try Pull(try PullAddress(output), into: near.firstTrack, log: lines.log)
        defer { pull.stop() }
        var received: [CodedFrame] = []
        try eventually("pictures") {
            track.write(pictures.next())
            poll(nil, 0, 15)
            received += reader.take().map(\.coded)
            return received.count >= 60
        }
        #expect(lines.contain("sends H.264 of 176x144"))
        #expect(pictures.contains(received), "\(pictures.places(of: received))")
        #expect(push.state == .connected)
    }

    @Test("what nginx plays is what was pushed to it, byte for byte")
    func rtmp() throws {
        let server = try NginxServer(port: try freePort(), in: folder)
        try relay(from: server.url, to: server.url)
    }

    @Test("AAC that FFmpeg sends to nginx is heard as Opus, beside its pictures")
    func rtmpSound() throws {
        defer {
            near.stop()
            far.stop()
        }
        let server = try NginxServer(port: try freePort(), in: folder)
        var launch = Launch(
            "ffmpeg",
            [
                "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25",
                "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=44100", "-pix_fmt", "yuv420p", "-c:v", "libx264",
                "-tune", "zerolatency", "-g", "25", "-c:a", "aac", "-b:a", "128k", "-f", "flv", server.url,
            ])
        launch.standardError = .text(limit: 1 << 16)
        let sender = try ChildProcess(launch)
        defer { sender.stop(within: .zero) }
        var sound = try HeardSound(near.firstTrack)
        let lines = LoggedLines()
        let pull = try Pull(try PullAddress(server.url), into: near.firstTrack, log: lines.log)
        defer { pull.stop() }
        try eventually("the tone") {
            try sound.take()
            return sound.isTone(from: sound.samples.count - 24_000)
        }
        #expect(lines.contain("sends H.264 of 176x144, and aac, which is converted to Opus"))
        #expect(pull.pictures > 0)
    }

    @Test("pictures that begin long after the sound are taken when they come, and are named as missing until then")
    func latePictures() throws {
        defer {
            near.stop()
            far.stop()
        }
        let server = try NginxServer(port: try freePort(), in: folder)
        // A key frame in four seconds: nginx plays no picture before the next one.
        var launch = Launch(
            "ffmpeg",
            [
                "-hide_banner", "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25",
                "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=44100", "-pix_fmt", "yuv420p", "-c:v", "libx264",
                "-tune", "zerolatency", "-g", "100", "-c:a", "aac", "-b:a", "128k", "-f", "flv", server.url,
            ])
        launch.standardError = .text(limit: 1 << 16)
        let sender = try ChildProcess(launch)
        defer { sender.stop(within: .zero) }
        let begun = try eventually("the sender") { server.log.contains("publish: name='key'") ? now() : nil }
        try eventually("the first key frame is over") { now() - begun > .milliseconds(1000) }
        let reader = near.firstTrack.subscribe {}
        let lines = LoggedLines()
        let pull = try Pull(try PullAddress(server.url), into: near.firstTrack, log: lines.log)
        defer { pull.stop() }
        try eventually("the sound alone") {
            lines.contain("sends aac, which is converted to Opus, and no pictures")
        }
        #expect(pull.pictures == 0)
        let decoder = try H264Decoder()
        try eventually("pictures") {
            for frame in reader.take() { try decoder.decode(frame.coded, copying: false) }
            return decoder.pictureCount > 10
        }
        #expect(decoder.lastPictureSize == PictureSize(width: 176, height: 144))
        #expect(lines.contain("sends H.264 of 176x144, and aac, which is converted to Opus"))
        #expect(near.firstTrack.sourceState == .live && near.firstTrack.soundState == .live)
    }

    @Test("what srt-live-transmit passes on is what was pushed to it, byte for byte")
    func srt() throws {
        let relay = try SRTRelay(ports: (input: try freePort(), output: try freePort()))
        try self.relay(from: relay.input + "?latency=1000000", to: relay.output)
    }
}
