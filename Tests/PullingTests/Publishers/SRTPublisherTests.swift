import CSRT
import MediaFiles
import MediaTypes
import Processes
import SRTServing
import ScreenRelayKit
import Signalling
import TestSupport
import Testing

@Suite("Publishers over SRT", .enabled(if: FFmpeg.isAvailable), .serialized)
struct SRTPublisherTests {
    private func serve(
        passphrase: String? = nil, password: String? = nil, _ change: (inout PublisherLimits) -> Void = { _ in }
    ) throws -> PublishedRoom<SRTServer> {
        try PublishedRoom(password: password) { host, address, log in
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

    /// Connects to the server as a publisher. Returns the socket, which the caller closes, and the code that it is
    /// rejected with; 0 if it isn't.
    private func connect(
        to room: PublishedRoom<SRTServer>, as streamID: String = "publish:screen,presenting",
        passphrase: String? = nil, latency: Int32? = nil
    ) -> (socket: SRTSOCKET, code: Int32) {
        let socket = srt_create_socket()
        srt_setsockflag(socket, SRTO_STREAMID, streamID, Int32(streamID.utf8.count))
        if let passphrase { srt_setsockflag(socket, SRTO_PASSPHRASE, passphrase, Int32(passphrase.utf8.count)) }
        if var latency { srt_setsockflag(socket, SRTO_PEERLATENCY, &latency, Int32(MemoryLayout<Int32>.size)) }
        let isConnected = shim_srt_connect(socket, "127.0.0.1", room.server.address.port) == 0
        return (socket, isConnected ? 0 : srt_getrejectreason(socket))
    }

    /// The code that a publisher is rejected with; 0 if it isn't.
    private func call(
        _ room: PublishedRoom<SRTServer>, as streamID: String = "publish:screen,presenting",
        passphrase: String? = nil
    ) -> Int32 {
        let (socket, code) = connect(to: room, as: streamID, passphrase: passphrase)
        srt_close(socket)
        return code
    }

    @Test("are passed on as they are, bit for bit")
    func passedOn() throws {
        let room = try serve()
        defer { room.stop() }
        let reader = room.host.firstTrack.subscribe {}
        // The last picture of a stream has no successor that ends it.
        let sender = try publish(["-c", "copy"], from: ["-stream_loop", "1", "-i", try room.movie()], into: room)
        defer { sender.stop(within: .zero) }
        let places = try room.expectAllPictures(from: reader)
        // Those that were read to find out what is in the stream, too.
        #expect(places.first == 0)
        try room.expectEnd(of: sender)
    }

    @Test("send Opus that is passed on as it is, byte for byte")
    func opus() throws {
        let room = try serve()
        defer { room.stop() }
        let file = room.folder.file("a.mkv")
        let length = ["-t", "10"]
        let made = try FFmpeg.run(
            length + room.moving + length + room.tone + room.h264 + ["-c:a", "libopus", "-ar", "48000", file])
        try #require(made.status == .exited(0), "\(made.messages)")
        let movie = try MediaReader(address: "file:" + file, connection: MediaConnection())
        var sent: [[UInt8]] = []
        while let piece = try movie.next() {
            if case .sound(let packet) = piece.content { sent.append(packet.bytes) }
        }
        try #require(sent.count > 400)
        var sound = try HeardSound(room.host.firstTrack)
        let sender = try publish(["-c", "copy"], from: ["-i", file], into: room)
        defer { sender.stop(within: .zero) }
        try eventually("a second of it without a gap") {
            try sound.take()
            let last = sound.packets.suffix(50)
            return last.count == 50 && (0...sent.count - 50).contains { sent[$0...].starts(with: last) }
        }
        #expect(room.lines.contain("sends H.264 of 176x144, and Opus"))
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
        #expect(call(room) == 11)
        #expect(call(room, passphrase: "incorrect horse") == 10)
        #expect(call(room, as: "publish:screen,wrong", passphrase: secret) == 1401)
        let sender = try publish(into: room, passphrase: secret)
        defer { sender.stop(within: .zero) }
        try eventually("the publisher") { room.host.firstTrack.sourceState == .live }
        #expect(!room.lines.contain(secret))
    }

    @Test("are refused without a passphrase if they have one and the host has none")
    func unexpectedPassphrase() throws {
        let room = try serve()
        defer { room.stop() }
        #expect(call(room, passphrase: "correct horse") == 11)
    }

    @Test(
        "need the room's password if there is one, and each part may be percent-encoded",
        arguments: [
            ("publish:screen/a,presenting,open, sesame", 0),
            ("publish:s%63reen/%61,%70resenting,open%2C%20sesame", 0),
            ("#!::r=screen/a,m=publish,s=presenting,user_password=open%2C%20sesame", 0),
            ("#!::r=s%63reen/%61,m=publish,s=%70resenting,user_password=open%2C%20sesame,u=me", 0),
            ("publish:screen/a,presenting", 1401), ("publish:screen/a,presenting,open", 1401),
            ("#!::r=screen/a,m=publish,s=presenting", 1401),
            ("#!::r=screen/a,m=publish,s=presenting,user_password=open", 1401),
        ] as [(String, Int32)])
    func password(streamID: String, code: Int32) throws {
        let room = try serve(password: "open, sesame")
        defer { room.stop() }
        let caller = connect(to: room, as: streamID)
        defer { srt_close(caller.socket) }
        #expect(caller.code == code)
        try eventually("the publisher") { room.lines.contain(code == 0 ? "publishes screen/a" : "was refused") }
        #expect(!room.lines.contain("sesame"))
    }

    @Test(
        "are rejected with the code for the reason, and nothing tells which rooms there are",
        arguments: [
            ("publish:screen,wrong", 1401), ("publish:screen,viewing", 1401), ("publish:screen", 1401),
            ("publish:other,presenting", 1401), ("#!::r=screen,m=publish,s=wrong", 1401),
            ("#!::r=screen,s=presenting", 1405), ("#!::r=screen,m=request,s=presenting", 1405),
            ("#!::r=screen,m=publish,t=file,s=presenting", 1415), ("", 1400), ("screen", 1400), ("#!::screen", 1400),
            ("publish:a/b/c,presenting", 1400), ("publish:%F,presenting", 1400),
        ] as [(String, Int32)])
    func rejected(streamID: String, code: Int32) throws {
        let room = try serve()
        defer { room.stop() }
        #expect(call(room, as: streamID) == code)
        #expect(room.lines.contain("srt: 127.0.0.1 was refused: its stream identifier"))
        #expect(!room.lines.contain("wrong") && !room.lines.contain(room.token))
        #expect(room.server.publishers == 0 && room.host.firstTrack.sourceState == .waiting)
    }

    @Test("are disconnected after the handshake if the room can't have their track")
    func badTrack() throws {
        let room = try serve()
        defer { room.stop() }
        let caller = connect(to: room, as: "publish:screen/a%20b,presenting")
        defer { srt_close(caller.socket) }
        #expect(caller.code == 0)
        try eventually("the reason") { room.lines.contain("was disconnected: the room can't have this track") }
        #expect(room.server.publishers == 0)
    }

    @Test(
        "have 120 ms for lost packets, or as long as they ask for if that is more",
        arguments: [(nil, 120), (50, 120), (300, 300)] as [(Int32?, Int32)])
    func latency(asked: Int32?, granted: Int32) throws {
        let room = try serve()
        defer { room.stop() }
        let (socket, code) = connect(to: room, latency: asked)
        defer { srt_close(socket) }
        #expect(code == 0)
        var found: Int32 = 0
        var size = Int32(MemoryLayout<Int32>.size)
        srt_getsockflag(socket, SRTO_PEERLATENCY, &found, &size)
        #expect(found == granted)
    }

    @Test("are rejected while the track has a source or the host is full, and may come back when they were killed")
    func oneEach() throws {
        let room = try serve { $0.publishers = 2 }
        defer { room.stop() }
        let first = try publish(into: room)
        defer { first.stop(within: .zero) }
        try eventually("the first one") { room.host.firstTrack.sourceState == .live }
        #expect(call(room) == 1409)
        let second = try publish(into: room, as: "publish:screen/other,presenting")
        defer { second.stop(within: .zero) }
        try eventually("another track") { room.host.track("other", in: "screen")?.sourceState == .live }
        #expect(call(room, as: "publish:screen/third,presenting") == 1402)

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
        let (socket, code) = connect(to: room)
        defer { srt_close(socket) }
        #expect(code == 0)
        try eventually("its end") { room.lines.contain("has left screen/screen: it sent nothing") }
        try eventually("it is gone") { room.server.publishers == 0 }
    }

    @Test("are disconnected if it isn't known in time what they send")
    func unknownCodecs() throws {
        let room = try serve { $0.greeting = .seconds(1) }
        defer { room.stop() }
        let file = room.folder.file("a.ts")
        let made = try FFmpeg.run(["-i", try room.movie(), "-c", "copy", file])
        try #require(made.status == .exited(0), "\(made.messages)")
        // The tables that announce its streams (PID 0 and 4096), without the streams' packets.
        let bytes = try fileBytes(file)
        let packets = stride(from: 0, through: bytes.count - 188, by: 188).map { bytes[$0..<$0 + 188] }
        let tables = packets.filter { $0.starts(with: [0x47, 0x40, 0]) || $0.starts(with: [0x47, 0x50, 0]) }
        try #require(tables.count > 6)
        let sent = tables.prefix(6).joined().map { CChar(bitPattern: $0) }
        let (socket, code) = connect(to: room)
        defer { srt_close(socket) }
        #expect(code == 0)
        let start = now()
        try eventually("its end") {
            srt_send(socket, sent, Int32(sent.count))
            return room.lines.contain("has left screen/screen: no answer in time")
        }
        #expect(now() - start < .seconds(8))
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
