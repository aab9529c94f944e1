import H264
import MediaTypes
import Processes
import RTSPServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub
import VideoDecoding

@Suite("Publishers over RTSP", .enabled(if: FFmpeg.isAvailable), .serialized)
struct RTSPPublisherTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let server: RTSPServer
    private let lines = LoggedLines()

    init() throws {
        folder = try TemporaryFolder()
        var configuration = HostConfiguration()
        configuration.token = "viewing"
        configuration.presentingToken = "presenting"
        host = try ScreenRelayHost(configuration)
        var limits = RTSPServerLimits()
        limits.publishing.unpublished = .milliseconds(100)
        server = try RTSPServer(host, at: ListenAddress(address: "127.0.0.1", port: 0), limits: limits, log: lines.log)
    }

    private func stop() {
        server.stop()
        host.stop()
    }

    private func url(_ user: String, _ place: String) -> String {
        "rtsp://\(user)@127.0.0.1:\(server.address.port)/\(place)"
    }

    /// Starts FFmpeg with this input and these codecs, and publishes into this place.
    private func publish(
        _ input: [String], _ codecs: [String], to place: String = "screen", over transport: String = "tcp",
        as user: String = "presenter:presenting"
    ) throws -> ChildProcess {
        var launch = Launch(
            "ffmpeg",
            ["-hide_banner", "-nostdin", "-v", "error", "-re"] + input + codecs
                + ["-f", "rtsp", "-rtsp_transport", transport, url(user, place)])
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess(launch)
    }

    private let moving = ["-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25"]
    private let tone = ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=44100"]
    private let h264 = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-tune", "zerolatency", "-g", "25"]

    static var hasGStreamerSink: Bool {
        guard let child = try? ChildProcess(Launch("gst-inspect-1.0", ["--exists", "rtspclientsink"])) else {
            return false
        }
        return child.wait(within: .seconds(20)) == .exited(0)
    }

    /// A file with the pictures of a byte stream.
    private func movie() throws -> String {
        let raw = try folder.write("a.264", TestStreams.small.bytes())
        let file = folder.file("a.mp4")
        let made = try FFmpeg.run(["-f", "h264", "-r", "25", "-i", raw, "-c", "copy", file])
        #expect(made.status == .exited(0))
        return file
    }

    private func expectAllPictures(from reader: TrackSubscription) throws {
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        var received: [CodedFrame] = []
        try eventually("all pictures") {
            received += reader.take().map(\.coded)
            return received.count >= pictures.round.count
        }
        #expect(pictures.contains(received), "\(pictures.places(of: received))")
        #expect(lines.contain("sends H.264 of 176x144") && !lines.contain("re-encoded"))
    }

    @Test("of FFmpeg's are passed on as they are, bit for bit", arguments: ["tcp", "udp"])
    func passedOn(transport: String) throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let sender = try publish(["-i", try movie()], ["-c", "copy"], over: transport)
        defer { sender.stop(within: .zero) }
        try expectAllPictures(from: reader)
        #expect(lines.contain("publishes screen/screen over \(transport.uppercased())"))
        #expect(sender.wait(within: .seconds(20)) == .exited(0))
        try eventually("the publisher has left") { server.publishers == 0 }
        guard case .gone = host.firstTrack.sourceState else {
            Issue.record("\(host.firstTrack.sourceState)")
            return
        }
    }

    @Test(
        "of GStreamer's are passed on as they are, bit for bit", .enabled(if: RTSPPublisherTests.hasGStreamerSink),
        arguments: ["tcp", "udp"])
    func gstreamer(protocols: String) throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let file = try movie()
        let pipeline =
            ["filesrc", "location=\(file)", "!", "qtdemux", "!", "h264parse", "!", "identity", "sync=true", "!"]
            + ["rtspclientsink", "protocols=\(protocols)", "user-id=presenter", "user-pw=presenting"]
            + ["location=rtsp://127.0.0.1:\(server.address.port)/screen"]
        let sender = try ChildProcess(Launch("gst-launch-1.0", ["-q"] + pipeline))
        defer { sender.stop(within: .zero) }
        try expectAllPictures(from: reader)
    }

    @Test(
        "are heard beside their pictures, in a track of their own, which ends after them",
        arguments: ["aac", "libopus", "pcm_mulaw", "pcm_alaw"], ["tcp", "udp"])
    func sound(codec: String, transport: String) throws {
        defer { stop() }
        let rate = codec.hasPrefix("pcm") ? ["-ar", "8000", "-ac", "1"] : ["-ar", "48000", "-b:a", "128k"]
        let sender = try publish(moving + tone, h264 + ["-c:a", codec] + rate, to: "screen/stage", over: transport)
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
        #expect(lines.contain("which is converted to Opus") == (codec != "libopus"))
        sender.stop(within: .zero)
        try eventually("the track's end") { host.track("stage", in: "screen") == nil }
    }

    @Test("are re-encoded if they send B-frames")
    func bFrames() throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let sender = try publish(moving, ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "2", "-g", "25"])
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
        "are refused if their token doesn't let them present, whether or not there is such a room",
        arguments: ["presenter:wrong", "viewer:viewing"], ["screen", "other"])
    func refused(user: String, place: String) throws {
        defer { stop() }
        let sender = try publish(moving, h264, to: place, as: user)
        #expect(sender.wait(within: .seconds(20)) == .exited(1))
        sender.errorOutput?.waitForEnd(within: .seconds(2))
        let text = sender.errorOutput?.text ?? ""
        #expect(text.contains("401 Unauthorized"), "\(text)")
        #expect(host.firstTrack.sourceState == .waiting)
    }

    @Test("are refused with the reason if the track has a source, or for their codec")
    func reasons() throws {
        defer { stop() }
        let first = try publish(moving, h264)
        defer { first.stop(within: .zero) }
        try eventually("the first one") { host.firstTrack.sourceState == .live }
        func reason(_ codecs: [String], _ place: String) throws -> String {
            let sender = try publish(moving, codecs, to: place)
            #expect(sender.wait(within: .seconds(20)) == .exited(1))
            sender.errorOutput?.waitForEnd(within: .seconds(2))
            return sender.errorOutput?.text ?? ""
        }
        let taken = try reason(h264, "screen")
        #expect(taken.contains("the track screen already has a source"), "\(taken)")
        let other = try reason(["-c:v", "mpeg4"], "screen/other")
        #expect(other.contains("the video is MP4V-ES; set the encoder to H.264"), "\(other)")
        #expect(server.publishers == 1)
    }

    @Test("are listed in their room with what they send, and can be removed from it")
    func removed() throws {
        defer { stop() }
        let sender = try publish(moving, h264)
        defer { sender.stop(within: .zero) }
        try eventually("what is sent") { host.firstTrack.publication?.text == "H.264 of 176x144" }
        let count = host.metrics.publishers[.rtsp]
        #expect(count?.unchanged == 1 && count?.reencoded == 0)
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

    @Test("may be killed and come back into the same track, whose time goes on, and which players see meanwhile")
    func comesBack() throws {
        defer { stop() }
        let reader = host.firstTrack.subscribe {}
        let first = try publish(moving, h264)
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
        let file = folder.file("played.mkv")
        let played = try FFmpeg.run([
            "-rtsp_transport", "tcp", "-i", url("viewer:viewing", "screen"), "-c", "copy", "-t", "1", file,
        ])
        #expect(played.status == .exited(0), "\(played.messages)")
        #expect(try FFmpeg.decode(file, to: "gray").bytes.count >= 10 * 176 * 144)

        first.stop(within: .zero)
        try eventually("its end") { server.publishers == 0 }
        let second = try publish(moving, h264)
        defer { second.stop(within: .zero) }
        try expectPictures(10)
        // The player and the first publisher.
        #expect(lines.count("has left screen/screen") == 2)
    }
}
