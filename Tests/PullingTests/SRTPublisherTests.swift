import CSRT
import MediaTypes
import Processes
import SRTServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("Publishers over SRT", .enabled(if: FFmpeg.isAvailable), .serialized)
struct SRTPublisherTests {

    init() throws {
    }

    private func serve(
        passphrase: String? = nil, _ change: (inout PublisherLimits) -> Void = { _ in }
    ) throws -> PublishedRoom<SRTServer> {
        try PublishedRoom { host, address, log in
            var limits = PublisherLimits()
            limits.unpublished = .milliseconds(100)
            change(&limits)
            return try SRTServer(host, at: address, passphrase: passphrase, limits: limits, log: log)
        }
    }

    /// Starts FFmpeg, which publishes into a room with this stream identifier. Nil means moving pictures and a tone, as
    /// H.264 without B-frames and AAC.
    private func publish(
        _ codecs: [String]? = nil, from input: [String]? = nil, into room: PublishedRoom<SRTServer>,
        as streamID: String = "publish:screen,presenting", passphrase: String? = nil
    ) throws -> ChildProcess {
        let secret = passphrase.map { ["-passphrase", $0] } ?? []
        return try room.publish(
            input ?? room.moving + room.tone, codecs ?? room.h264 + room.aac,
            to: ["-f", "mpegts", "-srt_streamid", streamID] + secret
                + ["srt://127.0.0.1:\(room.server.address.port)?latency=300000"])
    }

    /// Calls the server as a publisher that sends nothing. Returns the code that it is rejected with; 0 if it isn't.
    private func call(
        _ room: PublishedRoom<SRTServer>, as streamID: String = "publish:screen,presenting",
        passphrase: String? = nil
    ) -> Int32 {
        let socket = srt_create_socket()
        defer { srt_close(socket) }
        srt_setsockflag(socket, SRTO_STREAMID, streamID, Int32(streamID.utf8.count))
        if let passphrase { srt_setsockflag(socket, SRTO_PASSPHRASE, passphrase, Int32(passphrase.utf8.count)) }
        return shim_srt_connect(socket, "127.0.0.1", room.server.address.port) == 0 ? 0 : srt_getrejectreason(socket)
    }

    @Test("are passed on as they are, bit for bit")
    func passedOn() throws {
        let room = try serve()
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        // The last picture of a stream has no successor that ends it.
        let sender = try publish(["-c", "copy"], from: ["-stream_loop", "1", "-i", try room.movie()], into: room)
        defer { sender.stop(within: .zero) }
        try room.expectAllPictures(from: reader)
        try room.expectEnd(of: sender)
    }

    @Test("publish video and audio into a track of their own, which is removed after they have left")
    func sound() throws {
        let room = try serve()
        defer { room.stop() }
        let sender = try publish(into: room, as: "#!::r=screen/stage,m=publish,u=me,s=presenting")
        defer { sender.stop(within: .zero) }
        // It says goodbye.
        try room.expectPicturesAndTone { sender.stop() }
        #expect(room.lines.contain("aac, which is converted to Opus"))
    }

    @Test("are re-encoded if they send B-frames")
    func bFrames() throws {
        let room = try serve()
        defer { room.stop() }
        let pictures = try DecodedPictures(room.host.firstTrack)
        let sender = try publish(room.bFrames + room.aac, into: room)
        defer { sender.stop(within: .zero) }
        try room.expectReencoded(pictures)
    }

    @Test("need the passphrase if there is one, which they don't send")
    func passphrase() throws {
        let secret = "correct horse"
        let room = try serve(passphrase: secret)
        defer { room.stop() }
        #expect(call(room) == shim_SRT_REJ_UNSECURE)
        #expect(call(room, passphrase: "incorrect horse") == shim_SRT_REJ_BADSECRET)
        #expect(call(room, as: "publish:screen,wrong", passphrase: secret) == SRT_REJX_UNAUTHORIZED)
        let sender = try publish(into: room, passphrase: secret)
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { room.host.firstTrack.sourceState == .live }
        #expect(!room.lines.contain(secret))
    }

    @Test("are refused without a passphrase if they have one and the host has none")
    func unexpectedPassphrase() throws {
        let room = try serve()
        defer { room.stop() }
        #expect(call(room, passphrase: "correct horse") == shim_SRT_REJ_UNSECURE)
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
        let room = try serve()
        defer { room.stop() }
        #expect(call(room, as: streamID) == code)
        #expect(room.lines.contain("srt: 127.0.0.1 was refused: its stream identifier"))
        #expect(!room.lines.contain("wrong") && !room.lines.contain(room.token))
        #expect(room.server.publishers == 0 && room.host.firstTrack.sourceState == .waiting)
    }

    @Test("are rejected while the track has a source or the host is full, and may come back when they were killed")
    func oneEach() throws {
        let room = try serve { $0.publishers = 2 }
        defer { room.stop() }
        let first = try publish(into: room)
        defer { first.stop(within: .zero) }
        try eventually("the first one") { room.host.firstTrack.sourceState == .live }
        #expect(call(room) == SRT_REJX_CONFLICT)
        let second = try publish(into: room, as: "publish:screen/other,presenting")
        defer { second.stop(within: .zero) }
        try eventually("another track") { room.host.track("other", in: "screen")?.sourceState == .live }
        #expect(call(room, as: "publish:screen/third,presenting") == SRT_REJX_OVERLOAD)

        first.stop(within: .zero)
        try eventually("libsrt has noticed") { room.server.publishers == 1 }
        let pictures = try DecodedPictures(room.host.firstTrack)
        let again = try publish(into: room)
        defer { again.stop(within: .zero) }
        try eventually("its pictures") {
            try pictures.take()
            return room.host.firstTrack.sourceState == .live && pictures.count > 10
        }
    }

    @Test("are listed in their room with what they send, and can be removed from it")
    func removed() throws {
        let room = try serve()
        defer { room.stop() }
        let sender = try publish(room.bFrames + room.aac, into: room)
        defer { sender.stop(within: .zero) }
        try eventually("what is sent") {
            let text = room.host.firstTrack.publication?.text
            return text?.contains("H.264 of 176x144 with B-frames, which is re-encoded") == true
        }
        #expect(room.host.metrics.publishers[.srt]?.reencoded == 1)
        try room.expectRemoval()
    }

    @Test("are disconnected if they send nothing")
    func silent() throws {
        let room = try serve { $0.greeting = .milliseconds(300) }
        defer { room.stop() }
        let socket = srt_create_socket()
        defer { srt_close(socket) }
        let place = "publish:screen,\(room.token)"
        srt_setsockflag(socket, SRTO_STREAMID, place, Int32(place.utf8.count))
        #expect(shim_srt_connect(socket, "127.0.0.1", room.server.address.port) == 0)
        try eventually("its end") { room.lines.contain("has left screen/screen: it sent nothing") }
        try eventually("it is gone") { room.server.publishers == 0 }
    }

    @Test("are disconnected if they send too much")
    func flooding() throws {
        let room = try serve { $0.bytesPerSecond = 10_000 }
        defer { room.stop() }
        let sender = try publish(into: room)
        defer { sender.stop(within: .zero) }
        try eventually("the limit") { room.lines.contain("it sends more than 10000 bytes per second") }
    }

    @Test("end with the host")
    func ending() throws {
        let room = try serve()
        let sender = try publish(into: room)
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { room.host.firstTrack.sourceState == .live }
        room.stop()
        #expect(room.lines.contain("has left screen/screen: the host is ending"))
        #expect(room.server.publishers == 0)
    }
}
