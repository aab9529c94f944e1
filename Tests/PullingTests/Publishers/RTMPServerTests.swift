import LinkTransport
import MediaTypes
import Processes
import RTMPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("Publishers over RTMP", .enabled(if: FFmpeg.isAvailable), .serialized)
struct RTMPServerTests {
    private let room: PublishedRoom<RTMPServer>

    init() throws { room = try Self.serve() }

    private static func serve(password: String? = nil) throws -> PublishedRoom<RTMPServer> {
        try PublishedRoom(password: password) { host, address, log in
            var limits = PublisherLimits()
            limits.greeting = .seconds(2)
            limits.unpublished = .milliseconds(100)
            return try RTMPServer(host, at: address, limits: limits, connections: 100, log: log)
        }
    }

    /// Starts FFmpeg, which publishes into this application and stream key. Nil means moving pictures and a tone, as
    /// H.264 without B-frames and AAC.
    private func publish(
        _ codecs: [String]? = nil, from input: [String]? = nil, to place: String = "live/screen?token=presenting",
        of server: RTMPServer? = nil
    ) throws -> ChildProcess {
        let port = (server ?? room.server).address.port
        return try room.publish(
            input ?? room.moving + room.tone, codecs ?? room.h264 + room.aac,
            to: ["-f", "flv", "rtmp://127.0.0.1:\(port)/\(place)"])
    }

    @Test("are passed on as they are, bit for bit, and their encoder is named in the log")
    func passedOn() throws {
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        let sender = try publish(["-c", "copy"], from: ["-i", try room.movie()])
        defer { sender.stop(within: .zero) }
        try room.expectAllPictures(from: reader)
        #expect(room.lines.contain("sends H.264 of 176x144, with Lavf"))
        try room.expectEnd(of: sender, within: .seconds(10))
    }

    @Test("of GStreamer's are passed on as they are, bit for bit", .enabled(if: GStreamer.has("rtmp2sink")))
    func gstreamer() throws {
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        let file = try room.movie()
        let place = "rtmp://127.0.0.1:\(room.server.address.port)/live/screen?token=presenting"
        let pipeline =
            ["filesrc", "location=\(file)", "!", "qtdemux", "!", "h264parse", "!", "identity", "sync=true", "!"]
            + ["flvmux", "streamable=true", "!", "rtmp2sink", "location=\(place)"]
        let sender = try ChildProcess(Launch("gst-launch-1.0", ["-q"] + pipeline))
        defer { sender.stop(within: .zero) }
        try room.expectAllPictures(from: reader)
        #expect(room.lines.contain("sends H.264 of 176x144, with GStreamer"))
    }

    @Test("publish video and audio into a track of their own, which is removed after they have left")
    func sound() throws {
        defer { room.stop() }
        let sender = try publish(to: "screen/stage?token=presenting")
        defer { sender.stop(within: .zero) }
        try room.expectPicturesAndTone { sender.stop(within: .zero) }
        #expect(room.lines.contain("sends aac, which is converted to Opus"))
    }

    @Test("are re-encoded if they send B-frames")
    func bFrames() throws {
        defer { room.stop() }
        let pictures = try DecodedPictures(room.host.firstTrack)
        let sender = try publish(room.bFrames + room.aac, to: "live/screen,presenting")
        defer { sender.stop(within: .zero) }
        try room.expectReencoded(pictures)
    }

    @Test(
        "are refused with a reason if their token doesn't let them present, whether or not there is such a room",
        arguments: [
            "live/screen?token=wrong", "live/screen?token=viewing", "live/screen", "live/other?token=presenting",
        ])
    func refused(place: String) throws {
        defer { room.stop() }
        let text = room.failure(of: try publish(to: place))
        #expect(text.contains("the stream key needs the presenters' token: ROOM?token=TOKEN"), "\(text)")
        #expect(!room.lines.contain("wrong"))
        #expect(room.host.firstTrack.sourceState == .waiting)
    }

    @Test("need the room's password after the token and a comma")
    func password() throws {
        defer { room.stop() }
        let other = try Self.serve(password: "sesame")
        defer { other.stop() }
        let text = other.failure(of: try publish(to: "live/screen,presenting", of: other.server))
        #expect(text.contains("the stream key needs the presenters' token"), "\(text)")
        let sender = try publish(to: "live/screen,presenting,sesame", of: other.server)
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { other.host.firstTrack.sourceState == .live }
        #expect(!other.lines.contain("sesame"))
    }

    @Test("are refused if the track has a source, and may publish another track")
    func taken() throws {
        defer { room.stop() }
        let first = try publish()
        defer { first.stop(within: .zero) }
        try eventually("the first one") { room.host.firstTrack.sourceState == .live }
        let text = room.failure(of: try publish())
        #expect(text.contains("the track screen already has a source"), "\(text)")
        let third = try publish(to: "live/screen/other?token=presenting")
        defer { third.stop(within: .zero) }
        try eventually("another track") { room.host.track("other", in: "screen")?.sourceState == .live }
    }

    @Test("are refused with the codec's name if they send another one")
    func otherCodec() throws {
        defer { room.stop() }
        let sender = try publish(["-pix_fmt", "yuv420p", "-c:v", "flv1"] + room.aac)
        defer { sender.stop(within: .zero) }
        try eventually("the reason") { room.lines.contain("the video is Sorenson H.263; set the encoder to H.264") }
        try eventually("the end") { room.server.publishers == 0 }
    }

    @Test("are listed in their room with what they send, and can be removed from it")
    func removed() throws {
        defer { room.stop() }
        let sender = try publish(room.bFrames + room.aac)
        defer { sender.stop(within: .zero) }
        let sent = "H.264 of 176x144 with B-frames, which is re-encoded, and aac, which is converted to Opus"
        try eventually("what is sent") { room.host.firstTrack.publication?.text == sent }
        #expect(room.lines.contain("turn off B-frames at the sender"))
        let count = room.host.metrics.publishers[.rtmp]
        #expect(count?.reencoded == 1 && count?.unchanged == 0)
        try room.expectRemoval()
    }

    @Test("are not read while they have sent more than their rate")
    func rate() throws {
        defer { room.stop() }
        var limits = PublisherLimits()
        // What comes first is paid for only after hours.
        limits.bytesPerSecond = 1
        limits.silence = .seconds(1)
        let slow = try RTMPServer(
            room.host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits, log: room.lines.log)
        defer { slow.stop() }
        let sender = try publish(of: slow)
        defer { sender.stop(within: .zero) }
        try eventually("the end of one that isn't read") { room.lines.contain("nothing came for too long") }
    }

    @Test("can connect while others say nothing or half a handshake, whose connections end")
    func silent() throws {
        defer { room.stop() }
        let half = [3] + [UInt8](repeating: 0, count: 800)
        let silent = try (0..<400).map { index -> SocketConnection in
            let connection = try SocketConnection.connect(to: .tcp(host: "127.0.0.1", port: room.server.address.port))
            if index % 2 == 0 { try connection.enqueue(header: half) }
            return connection
        }
        var buffer = [UInt8](repeating: 0, count: SocketConnection.minBuffer)
        let sender = try publish()
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { room.host.firstTrack.sourceState == .live }
        try eventually("the end of the silent ones") {
            try silent.allSatisfy { try $0.receive(into: &buffer) == .closed }
        }
        #expect(room.server.publishers == 1)
    }
}
