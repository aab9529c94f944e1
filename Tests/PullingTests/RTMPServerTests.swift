import H264
import LinkTransport
import MediaTypes
import Processes
import RTMPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub
import VideoDecoding

@Suite("Publishers over RTMP", .enabled(if: FFmpeg.isAvailable), .serialized)
struct RTMPServerTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let server: RTMPServer
    private let lines = LoggedLines()
    private let token = "presenting"

    init() throws {
        folder = try TemporaryFolder()
        var configuration = HostConfiguration()
        configuration.token = "viewing"
        configuration.presentingToken = token
        host = try ScreenRelayHost(configuration)
        var limits = PublisherLimits()
        limits.greeting = .seconds(2)
        limits.unpublished = .milliseconds(100)
        server = try RTMPServer(
            host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits, connections: 100, log: lines.log)
    }

    private func stop() {
        server.stop()
        host.stop()
    }

    /// Starts FFmpeg with this input and these codecs, and publishes into this application and stream key.
    private func publish(
        _ input: [String], _ codecs: [String], to place: String, of server: RTMPServer? = nil
    ) throws -> ChildProcess {
        let port = (server ?? self.server).address.port
        var launch = Launch(
            "ffmpeg",
            ["-hide_banner", "-nostdin", "-v", "error", "-re"] + input + codecs
                + ["-f", "flv", "rtmp://127.0.0.1:\(port)/\(place)"])
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess(launch)
    }

    private let moving = [
        "-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25", "-f", "lavfi", "-i",
        "aevalsrc='0.5*sin(2*PI*440*t)':s=44100",
    ]
    private let codecs = [
        "-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency", "-g", "25", "-c:a", "aac", "-b:a", "128k",
    ]

    @Test("are passed on as they are, bit for bit")
    func passedOn() throws {
        defer { stop() }
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        let raw = try folder.write("a.264", TestStreams.small.bytes())
        let file = folder.file("a.mp4")
        let made = try FFmpeg.run(["-f", "h264", "-r", "25", "-i", raw, "-c", "copy", file])
        #expect(made.status == .exited(0))
        let reader = host.firstTrack.subscribe {}
        let sender = try publish(["-i", file], ["-c", "copy"], to: "live/screen?token=\(token)")
        var received: [CodedFrame] = []
        try eventually("all pictures") {
            received += reader.take().map(\.coded)
            return received.count >= pictures.round.count
        }
        #expect(pictures.contains(received), "\(pictures.places(of: received))")
        #expect(lines.contain("sends H.264 of 176x144") && !lines.contain("re-encoded"))
        #expect(sender.wait(within: .seconds(10)) == .exited(0))
        try eventually("the publisher has left") { server.publishers == 0 }
        guard case .gone = host.firstTrack.sourceState else {
            Issue.record("\(host.firstTrack.sourceState)")
            return
        }
    }

    @Test("are heard beside their pictures, in a track of their own, which ends after them")
    func sound() throws {
        defer { stop() }
        let sender = try publish(moving, codecs, to: "screen/stage?token=\(token)")
        defer { sender.stop(within: .zero) }
        let track = try eventually("the track") { host.track("stage", in: "screen") }
        let reader = track.subscribe {}
        var sound = try HeardSound(track)
        let decoder = try H264Decoder()
        try eventually("the tone and pictures") {
            try sound.take()
            for frame in reader.take() { try decoder.decode(frame.coded, copying: false) }
            return sound.isTone(from: sound.samples.count - 24_000) && decoder.pictureCount > 10
        }
        #expect(decoder.lastPictureSize == PictureSize(width: 176, height: 144))
        #expect(lines.contain("sends aac, which is converted to Opus"))
        #expect(server.publishers == 1)
        sender.stop(within: .zero)
        try eventually("the track's end") { host.track("stage", in: "screen") == nil }
    }

    @Test("are re-encoded if they send B-frames")
    func bFrames() throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let encoder = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "aac"]
        let sender = try publish(moving, encoder, to: "live/screen,\(token)")
        defer { sender.stop(within: .zero) }
        let decoder = try H264Decoder()
        var last: MediaTime?
        try eventually("pictures") {
            for frame in reader.take() {
                try decoder.decode(frame.coded, copying: false)
                #expect(last.map { $0 < frame.time } ?? true)
                last = frame.time
            }
            return decoder.pictureCount > 30
        }
        #expect(lines.contain("sends H.264 of 176x144 with B-frames, which is re-encoded"))
    }

    @Test(
        "are refused with a reason if their token doesn't let them present, whether or not there is such a room",
        arguments: [
            "live/screen?token=wrong", "live/screen?token=viewing", "live/screen", "live/other?token=presenting",
        ])
    func refused(place: String) throws {
        defer { stop() }
        let sender = try publish(moving, codecs, to: place)
        #expect(sender.wait(within: .seconds(20)) == .exited(1))
        sender.errorOutput?.waitForEnd(within: .seconds(2))
        let text = sender.errorOutput?.text ?? ""
        #expect(text.contains("the stream key needs the presenters' token: ROOM?token=TOKEN"), "\(text)")
        #expect(!lines.contain("wrong"))
        #expect(host.firstTrack.sourceState == .waiting)
    }

    @Test("are refused if the track has a source, and may publish another track")
    func taken() throws {
        defer { stop() }
        let first = try publish(moving, codecs, to: "live/screen?token=\(token)")
        defer { first.stop(within: .zero) }
        try eventually("the first one") { host.firstTrack.sourceState == .live }
        let second = try publish(moving, codecs, to: "live/screen?token=\(token)")
        #expect(second.wait(within: .seconds(20)) == .exited(1))
        second.errorOutput?.waitForEnd(within: .seconds(2))
        let text = second.errorOutput?.text ?? ""
        #expect(text.contains("the track screen already has a source"), "\(text)")
        let third = try publish(moving, codecs, to: "live/screen/other?token=\(token)")
        defer { third.stop(within: .zero) }
        try eventually("another track") { host.track("other", in: "screen")?.sourceState == .live }
    }

    @Test("are refused with the codec's name if they send another one")
    func otherCodec() throws {
        defer { stop() }
        let encoder = ["-pix_fmt", "yuv420p", "-c:v", "flv1", "-c:a", "aac"]
        let sender = try publish(moving, encoder, to: "live/screen?token=\(token)")
        defer { sender.stop(within: .zero) }
        try eventually("the reason") { lines.contain("the video is Sorenson H.263; set the encoder to H.264") }
        try eventually("the end") { server.publishers == 0 }
    }

    @Test("are listed in their room with what they send, and can be removed from it")
    func removed() throws {
        defer { stop() }
        let encoder = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "aac"]
        let sender = try publish(moving, encoder, to: "live/screen?token=\(token)")
        defer { sender.stop(within: .zero) }
        let sent = "H.264 of 176x144 with B-frames, which is re-encoded, and aac, which is converted to Opus"
        try eventually("what is sent") { host.firstTrack.publication?.text == sent }
        #expect(lines.contain("turn off B-frames at the sender"))
        let count = host.metrics.publishers[.rtmp]
        #expect(count?.reencoded == 1 && count?.unchanged == 0)
        let member = try eventually("the member") {
            host.rooms()?.rooms.first?.members.first { $0.kind == "publisher" }
        }
        #expect(member.tracks == ["screen"] && member.address == "127.0.0.1")
        #expect(host.removeParticipant(member.id))
        try eventually("the end") { server.publishers == 0 }
        #expect(lines.contain("has left screen/screen: it was removed from the room"))
        try eventually("an empty room") { host.rooms()?.rooms.first?.members.isEmpty == true }
        #expect(host.firstTrack.publication == nil && host.metrics.publishers.isEmpty)
    }

    @Test("are not read while they have sent more than their rate")
    func rate() throws {
        defer { stop() }
        var limits = PublisherLimits()
        // What comes first is paid for only after hours.
        limits.bytesPerSecond = 1
        limits.silence = .seconds(1)
        let slow = try RTMPServer(
            host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits, log: lines.log)
        defer { slow.stop() }
        let sender = try publish(moving, codecs, to: "live/screen?token=\(token)", of: slow)
        defer { sender.stop(within: .zero) }
        try eventually("the end of one that isn't read") { lines.contain("nothing came for too long") }
    }

    @Test("can connect while others say nothing or half a handshake, whose connections end")
    func silent() throws {
        defer { stop() }
        let half = [3] + [UInt8](repeating: 0, count: 800)
        let silent = try (0..<400).map { index -> LinkConnection in
            let connection = try LinkConnection.connect(to: .tcp(host: "127.0.0.1", port: server.address.port))
            if index % 2 == 0 { try connection.enqueue(header: half) }
            return connection
        }
        var buffer = [UInt8](repeating: 0, count: LinkConnection.minBuffer)
        let sender = try publish(moving, codecs, to: "live/screen?token=\(token)")
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { host.firstTrack.sourceState == .live }
        try eventually("the end of the silent ones") {
            try silent.allSatisfy { try $0.receive(into: &buffer) == .closed }
        }
        #expect(server.publishers == 1)
    }
}
