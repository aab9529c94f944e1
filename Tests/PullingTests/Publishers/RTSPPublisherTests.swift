import MediaTypes
import Processes
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub

@Suite("Publishers over RTSP", .enabled(if: FFmpeg.isAvailable), .serialized)
struct RTSPPublisherTests {
    private let room: PublishedRoom<RTSPServer>

    init() throws {
        room = try PublishedRoom { host, address, log in
            var limits = RTSPServerLimits()
            limits.publishing.unpublished = .milliseconds(100)
            return try RTSPServer(host, at: address, limits: limits, log: log)
        }
    }

    private func url(_ user: String, _ place: String) -> String {
        "rtsp://\(user)@127.0.0.1:\(room.server.address.port)/\(place)"
    }

    /// Starts FFmpeg, which publishes into this place. Nil means moving pictures, as H.264 without B-frames.
    private func publish(
        _ codecs: [String]? = nil, from input: [String]? = nil, to place: String = "screen",
        over transport: String = "tcp", as user: String = "presenter:presenting"
    ) throws -> ChildProcess {
        try room.publish(
            input ?? room.moving, codecs ?? room.h264,
            to: ["-f", "rtsp", "-rtsp_transport", transport, url(user, place)])
    }

    @Test("of FFmpeg's are passed on as they are, bit for bit", arguments: ["tcp", "udp"])
    func passedOn(transport: String) throws {
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        let sender = try publish(["-c", "copy"], from: ["-i", try room.movie()], over: transport)
        defer { sender.stop(within: .zero) }
        try room.expectAllPictures(from: reader)
        #expect(room.lines.contain("publishes screen/screen over \(transport.uppercased())"))
        try room.expectEnd(of: sender)
    }

    @Test(
        "of GStreamer's are passed on as they are, bit for bit", .enabled(if: GStreamer.has("rtspclientsink")),
        arguments: ["tcp", "udp"])
    func gstreamer(protocols: String) throws {
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        let file = try room.movie()
        let pipeline =
            ["filesrc", "location=\(file)", "!", "qtdemux", "!", "h264parse", "!", "identity", "sync=true", "!"]
            + ["rtspclientsink", "protocols=\(protocols)", "user-id=presenter", "user-pw=presenting"]
            + ["location=rtsp://127.0.0.1:\(room.server.address.port)/screen"]
        let sender = try ChildProcess(Launch("gst-launch-1.0", ["-q"] + pipeline))
        defer { sender.stop(within: .zero) }
        try room.expectAllPictures(from: reader)
    }

    @Test(
        "publish video and audio into a track of their own, which is removed after they have left",
        arguments: ["aac", "libopus", "pcm_mulaw", "pcm_alaw"], ["tcp", "udp"])
    func sound(codec: String, transport: String) throws {
        defer { room.stop() }
        let rate = codec.hasPrefix("pcm") ? ["-ar", "8000", "-ac", "1"] : ["-ar", "48000", "-b:a", "128k"]
        let sender = try publish(
            room.h264 + ["-c:a", codec] + rate, from: room.moving + room.tone, to: "screen/stage", over: transport)
        defer { sender.stop(within: .zero) }
        try room.expectPicturesAndTone { sender.stop(within: .zero) }
        #expect(room.lines.contain("which is converted to Opus") == (codec != "libopus"))
    }

    @Test("are re-encoded if they send B-frames")
    func bFrames() throws {
        defer { room.stop() }
        let pictures = try DecodedPictures(room.host.firstTrack)
        let sender = try publish(room.bFrames)
        defer { sender.stop(within: .zero) }
        try room.expectReencoded(pictures)
    }

    @Test(
        "are refused if their token doesn't let them present, whether or not there is such a room",
        arguments: ["presenter:wrong", "viewer:viewing"], ["screen", "other"])
    func refused(user: String, place: String) throws {
        defer { room.stop() }
        let text = room.failure(of: try publish(to: place, as: user))
        #expect(text.contains("401 Unauthorized"), "\(text)")
        #expect(room.host.firstTrack.sourceState == .waiting)
    }

    @Test("are refused with the reason if the track has a source, or for their codec")
    func reasons() throws {
        defer { room.stop() }
        let first = try publish()
        defer { first.stop(within: .zero) }
        try eventually("the first one") { room.host.firstTrack.sourceState == .live }
        let taken = room.failure(of: try publish())
        #expect(taken.contains("the track screen already has a source"), "\(taken)")
        let other = room.failure(of: try publish(["-c:v", "mpeg4"], to: "screen/other"))
        #expect(other.contains("the video is MP4V-ES; set the encoder to H.264"), "\(other)")
        #expect(room.server.publishers == 1)
    }

    @Test("are listed in their room with what they send, and can be removed from it")
    func removed() throws {
        defer { room.stop() }
        let sender = try publish()
        defer { sender.stop(within: .zero) }
        try eventually("what is sent") { room.host.firstTrack.publication?.text == "H.264 of 176x144" }
        let count = room.host.metrics.publishers[.rtsp]
        #expect(count?.unchanged == 1 && count?.reencoded == 0)
        try room.expectRemoval()
    }

    @Test("may be killed and come back into the same track, whose time goes on, and which players see meanwhile")
    func comesBack() throws {
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        let first = try publish()
        var last: MediaTime?
        func expectPictures(_ count: Int) throws {
            var left = count
            try eventually("pictures") {
                for frame in reader.take() {
                    #expect(last.map { $0 < frame.time } ?? true)
                    last = frame.time
                    left -= 1
                }
                return left <= 0
            }
        }
        try expectPictures(10)
        let file = room.folder.file("played.mkv")
        let played = try FFmpeg.run([
            "-rtsp_transport", "tcp", "-i", url("viewer:viewing", "screen"), "-c", "copy", "-t", "1", file,
        ])
        #expect(played.status == .exited(0), "\(played.messages)")
        #expect(try FFmpeg.decode(file, to: "gray").bytes.count >= 10 * 176 * 144)

        first.stop(within: .zero)
        try eventually("its end") { room.server.publishers == 0 }
        let second = try publish()
        defer { second.stop(within: .zero) }
        try expectPictures(10)
        // The player and the first publisher.
        #expect(room.lines.count("has left screen/screen") == 2)
    }
}
