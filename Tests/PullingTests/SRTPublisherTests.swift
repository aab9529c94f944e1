import CSRT
import H264
import MediaTypes
import Processes
import SRTServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing
import TrackHub
import VideoDecoding

@Suite("Publishers over SRT", .enabled(if: FFmpeg.isAvailable), .serialized)
struct SRTPublisherTests {
    private let folder: TemporaryFolder
    private let host: ScreenRelayHost
    private let lines = LoggedLines()
    private let token = "presenting"

    init() throws {
        folder = try TemporaryFolder()
        var configuration = HostConfiguration()
        configuration.token = "viewing"
        configuration.presentingToken = token
        host = try ScreenRelayHost(configuration)
    }

    private func serve(
        passphrase: String? = nil, _ change: (inout PublisherLimits) -> Void = { _ in }
    ) throws -> SRTServer {
        var limits = PublisherLimits()
        limits.unpublished = .milliseconds(100)
        change(&limits)
        return try SRTServer(
            host, at: ListenAddress(address: "127.0.0.1", port: 0), passphrase: passphrase, limits: limits,
            log: lines.log)
    }

    private func stop(_ server: SRTServer) {
        server.stop()
        host.stop()
    }

    /// Starts FFmpeg with this input and these codecs, and publishes with this stream identifier.
    private func publish(
        _ input: [String], _ codecs: [String], as streamID: String, to server: SRTServer, passphrase: String? = nil
    ) throws -> ChildProcess {
        let secret = passphrase.map { ["-passphrase", $0] } ?? []
        var launch = Launch(
            "ffmpeg",
            ["-hide_banner", "-nostdin", "-v", "error", "-re"] + input + codecs
                + ["-f", "mpegts", "-srt_streamid", streamID] + secret
                + ["srt://127.0.0.1:\(server.address.port)?latency=300000"])
        launch.standardError = .text(limit: 1 << 16)
        return try ChildProcess(launch)
    }

    /// Calls the server as a publisher that sends nothing. Returns the code that it is rejected with; 0 if it isn't.
    private func call(_ server: SRTServer, as streamID: String, passphrase: String? = nil) -> Int32 {
        let socket = srt_create_socket()
        defer { srt_close(socket) }
        srt_setsockflag(socket, SRTO_STREAMID, streamID, Int32(streamID.utf8.count))
        if let passphrase { srt_setsockflag(socket, SRTO_PASSPHRASE, passphrase, Int32(passphrase.utf8.count)) }
        return shim_srt_connect(socket, "127.0.0.1", server.address.port) == 0 ? 0 : srt_getrejectreason(socket)
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
        let server = try serve()
        defer { stop(server) }
        let pictures = LoopedPictures(AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes()))
        let raw = try folder.write("a.264", TestStreams.small.bytes())
        let file = folder.file("a.mp4")
        let made = try FFmpeg.run(["-f", "h264", "-r", "25", "-i", raw, "-c", "copy", file])
        #expect(made.status == .exited(0))
        let reader = host.firstTrack.subscribe {}
        // The last picture of a stream has no successor that ends it.
        let sender = try publish(
            ["-stream_loop", "1", "-i", file], ["-c", "copy"], as: "publish:screen,\(token)", to: server)
        defer { sender.stop(within: .zero) }
        var received: [CodedFrame] = []
        try eventually("all pictures") {
            received += reader.take().map(\.coded)
            return received.count >= pictures.round.count
        }
        #expect(pictures.contains(received), "\(pictures.places(of: received))")
        #expect(lines.contain("sends H.264 of 176x144") && !lines.contain("re-encoded"))
        #expect(sender.wait(within: .seconds(20)) == .exited(0))
        try eventually("the publisher has left") { server.publishers == 0 }
        guard case .gone = host.firstTrack.sourceState else {
            Issue.record("\(host.firstTrack.sourceState)")
            return
        }
    }

    @Test("are heard beside their pictures, in a track of their own, which ends after them")
    func sound() throws {
        let server = try serve()
        defer { stop(server) }
        let sender = try publish(
            moving, codecs, as: "#!::r=screen/stage,m=publish,u=me,s=\(token)", to: server)
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
        #expect(lines.contain("aac, which is converted to Opus"))
        #expect(server.publishers == 1)
        // It says goodbye.
        sender.stop()
        try eventually("the track's end") { host.track("stage", in: "screen") == nil }
    }

    @Test("are re-encoded if they send B-frames")
    func bFrames() throws {
        let server = try serve()
        defer { stop(server) }
        let reader = host.firstTrack.subscribe {}
        let encoder = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "aac"]
        let sender = try publish(moving, encoder, as: "publish:screen,\(token)", to: server)
        defer { sender.stop(within: .zero) }
        let decoder = try H264Decoder()
        try eventually("pictures") {
            for frame in reader.take() { try decoder.decode(frame.coded, copying: false) }
            return decoder.pictureCount > 30
        }
        #expect(lines.contain("sends H.264 of 176x144 with B-frames, which is re-encoded"))
    }

    @Test("need the passphrase if there is one, which they don't send")
    func passphrase() throws {
        let secret = "correct horse"
        let server = try serve(passphrase: secret)
        defer { stop(server) }
        let place = "publish:screen,\(token)"
        #expect(call(server, as: place) == shim_SRT_REJ_UNSECURE)
        #expect(call(server, as: place, passphrase: "incorrect horse") == shim_SRT_REJ_BADSECRET)
        #expect(call(server, as: "publish:screen,wrong", passphrase: secret) == SRT_REJX_UNAUTHORIZED)
        let sender = try publish(moving, codecs, as: place, to: server, passphrase: secret)
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { host.firstTrack.sourceState == .live }
        #expect(!lines.contain(secret))
    }

    @Test("are refused without a passphrase if they have one and the host has none")
    func unexpectedPassphrase() throws {
        let server = try serve()
        defer { stop(server) }
        #expect(call(server, as: "publish:screen,\(token)", passphrase: "correct horse") == shim_SRT_REJ_UNSECURE)
    }

    @Test(
        "are rejected with the code for the reason, and nothing tells which rooms there are",
        arguments: [
            ("publish:screen,wrong", SRT_REJX_UNAUTHORIZED), ("publish:screen,viewing", SRT_REJX_UNAUTHORIZED),
            ("publish:screen", SRT_REJX_UNAUTHORIZED), ("publish:other,presenting", SRT_REJX_UNAUTHORIZED),
            ("#!::r=screen,m=publish,s=wrong", SRT_REJX_UNAUTHORIZED),
            ("#!::r=screen,s=presenting", SRT_REJX_BAD_MODE),
            ("#!::r=screen,m=request,s=presenting", SRT_REJX_BAD_MODE),
            ("#!::r=screen,m=publish,t=file,s=presenting", SRT_REJX_NOTSUP_MEDIA),
            ("", SRT_REJX_BAD_REQUEST), ("screen", SRT_REJX_BAD_REQUEST), ("#!::screen", SRT_REJX_BAD_REQUEST),
            ("publish:a/b/c,presenting", SRT_REJX_BAD_REQUEST), ("publish:%F,presenting", SRT_REJX_BAD_REQUEST),
        ])
    func rejected(streamID: String, code: Int32) throws {
        let server = try serve()
        defer { stop(server) }
        #expect(call(server, as: streamID) == code)
        #expect(lines.contain("srt: 127.0.0.1 was refused: its stream identifier"))
        #expect(!lines.contain("wrong") && !lines.contain(token))
        #expect(server.publishers == 0 && host.firstTrack.sourceState == .waiting)
    }

    @Test("are rejected while the track has a source or the host is full, and may come back when they were killed")
    func oneEach() throws {
        let server = try serve { $0.publishers = 2 }
        defer { stop(server) }
        let first = try publish(moving, codecs, as: "publish:screen,\(token)", to: server)
        defer { first.stop(within: .zero) }
        try eventually("the first one") { host.firstTrack.sourceState == .live }
        #expect(call(server, as: "publish:screen,\(token)") == SRT_REJX_CONFLICT)
        let second = try publish(moving, codecs, as: "publish:screen/other,\(token)", to: server)
        defer { second.stop(within: .zero) }
        try eventually("another track") { host.track("other", in: "screen")?.sourceState == .live }
        #expect(call(server, as: "publish:screen/third,\(token)") == SRT_REJX_OVERLOAD)

        first.stop(within: .zero)
        try eventually("libsrt has noticed") { server.publishers == 1 }
        let reader = host.firstTrack.subscribe {}
        let again = try publish(moving, codecs, as: "publish:screen,\(token)", to: server)
        defer { again.stop(within: .zero) }
        let decoder = try H264Decoder()
        try eventually("its pictures") {
            for frame in reader.take() { try decoder.decode(frame.coded, copying: false) }
            return host.firstTrack.sourceState == .live && decoder.pictureCount > 10
        }
    }

    @Test("are listed in their room with what they send, and can be removed from it")
    func removed() throws {
        let server = try serve()
        defer { stop(server) }
        let encoder = ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "aac"]
        let sender = try publish(moving, encoder, as: "publish:screen,\(token)", to: server)
        defer { sender.stop(within: .zero) }
        try eventually("what is sent") {
            host.firstTrack.publication?.text.contains("H.264 of 176x144 with B-frames, which is re-encoded") == true
        }
        #expect(host.metrics.publishers[.srt]?.reencoded == 1)
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

    @Test("are disconnected if they send nothing")
    func silent() throws {
        let server = try serve { $0.greeting = .milliseconds(300) }
        defer { stop(server) }
        let socket = srt_create_socket()
        defer { srt_close(socket) }
        let place = "publish:screen,\(token)"
        srt_setsockflag(socket, SRTO_STREAMID, place, Int32(place.utf8.count))
        #expect(shim_srt_connect(socket, "127.0.0.1", server.address.port) == 0)
        try eventually("its end") { lines.contain("has left screen/screen: it sent nothing") }
        try eventually("it is gone") { server.publishers == 0 }
    }

    @Test("are disconnected if they send too much")
    func flooding() throws {
        let server = try serve { $0.bytesPerSecond = 10_000 }
        defer { stop(server) }
        let sender = try publish(moving, codecs, as: "publish:screen,\(token)", to: server)
        defer { sender.stop(within: .zero) }
        try eventually("the limit") { lines.contain("it sends more than 10000 bytes per second") }
    }

    @Test("end with the host")
    func ending() throws {
        let server = try serve()
        let sender = try publish(moving, codecs, as: "publish:screen,\(token)", to: server)
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { host.firstTrack.sourceState == .live }
        stop(server)
        #expect(lines.contain("has left screen/screen: the host is ending"))
        #expect(server.publishers == 0)
    }
}
