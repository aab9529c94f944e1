import Testing

@testable import RTMP

@Suite("A conversation over RTMP")
struct RTMPConversationTests {
    /// A result without a value.
    private func result(_ transaction: String) -> [UInt8] {
        bytes("03 000000 000015 14 00000000 02 0007 '_result' 00 \(transaction) 05 06")
    }

    /// A status of the stream, with its code and text.
    private func status(_ level: String, _ code: String, _ text: String) -> [UInt8] {
        var values = bytes("02 0008 'onStatus' 00 0000000000000000 05 03")
        for (name, value) in [("0005 'level'", level), ("0004 'code'", code), ("000B 'description'", text)] {
            values += bytes(name + "02")
            values += bigEndian(value.utf8.count, 2)
            values += Array(value.utf8)
        }
        return message(20, on: 3, size: 4096, values + bytes("000009"))
    }

    @Test("begins with a handshake that repeats the client's block", arguments: [1, 7, 1536, 1 << 20])
    func handshake(step: Int) throws {
        var client = try RTMPTestClient(greets: false)
        try client.send(Array(greeting.dropLast()), step: step)
        #expect(client.answers.isEmpty)
        try client.send([greeting.last ?? 0])
        #expect(client.answers.count == 1 + 2 * 1536)
        #expect(client.answers.first == 3)
        // Without a version, no client expects a digest.
        #expect(client.answers[1..<9].allSatisfy { $0 == 0 })
        #expect(Array(client.answers.suffix(1536)) == Array(greeting.dropFirst()))
        client.answers = []
        // What follows may be in the same packet.
        try client.send(secondGreeting + Written.connect, step: step)
        #expect(!client.answers.isEmpty)
    }

    @Test(
        "is not begun with another protocol",
        arguments: [
            (UInt8(ascii: "G"), "the first byte is 71, not 3, the version of RTMP"),
            (0x16, "the client speaks TLS; use an rtmp:// URL"), (6, "the first byte is 6, not 3, the version of RTMP"),
        ] as [(UInt8, String)])
    func otherProtocol(first: UInt8, text: String) throws {
        var conversation = RTMPConversation()
        conversation.receive([first])
        let error = try #require(throws: RTMPError.self) { _ = try conversation.next() }
        #expect("\(error)" == text)
        let hasMore = try conversation.next() != nil
        #expect(!hasMore)
    }

    @Test("answers FFmpeg byte for byte", arguments: [1, 3, 64, 1 << 20])
    func ffmpeg(step: Int) throws {
        var client = try RTMPTestClient()
        try client.send(Written.connect + Written.chunkSize, step: step)
        let connected = bytes(
            """
            02 000000 000004 05 00000000 002625A0
            02 000000 000005 06 00000000 002625A0 02
            02 000000 000004 01 00000000 00001000
            03 000000 0000BE 14 00000000 02 0007 '_result' 00 3FF0000000000000
            03 0006 'fmsVer' 02 000D 'FMS/3,0,1,123' 000C 'capabilities' 00 403F000000000000 000009
            03 0005 'level' 02 0006 'status' 0004 'code' 02 001D 'NetConnection.Connect.Success'
            000B 'description' 02 0015 'Connection succeeded.' 000E 'objectEncoding' 00 0000000000000000 000009
            """)
        #expect(client.answers == connected)
        client.answers = []
        try client.send(Written.releaseStream + Written.fcPublish + Written.createStream, step: step)
        let created = bytes(
            "03 000000 00001D 14 00000000 02 0007 '_result' 00 4010000000000000 05 00 3FF0000000000000")
        #expect(client.answers == result("4000000000000000") + result("4008000000000000") + created)
        client.answers = []
        try client.send(Written.publish, step: step)
        #expect(client.places == [RTMPPlace(room: "ROOM", track: nil, token: "TOKEN", password: "")])
        let begun = bytes("02 000000 000006 04 00000000 0000 00000001")
        #expect(client.answers == begun + status("status", "NetStream.Publish.Start", "Publishing."))
        #expect(client.conversation.isPublishing && client.conversation.encoder == nil)
        try client.send(Written.description, step: step)
        #expect(client.conversation.encoder == "Lavf59.27.100")
    }

    @Test("answers OBS, which sends all on few chunk streams, and ends its stream")
    func obs() throws {
        var client = try RTMPTestClient()
        try client.send(
            bytes(
                """
                02 000000 000004 01 00000000 00001000
                03 000000 00009F 14 00000000 02 0007 'connect' 00 3FF0000000000000
                03 0003 'app' 02 0004 'live' 0004 'type' 02 000A 'nonprivate'
                0008 'flashVer' 02 001F 'FMLE/3.0 (compatible; FMSc/1.0)' 0006 'swfUrl' 02 0014 'rtmp://10.0.0.2/live'
                0005 'tcUrl' 02 0014 'rtmp://10.0.0.2/live' 000009
                """))
        #expect(client.answers.starts(with: bytes("02 000000 000004 05")))
        client.answers = []
        try client.send(
            bytes(
                """
                43 000000 000027 14 02 000D 'releaseStream' 00 4000000000000000 05 02 000A 'ROOM,TOKEN'
                43 000000 000023 14 02 0009 'FCPublish' 00 4008000000000000 05 02 000A 'ROOM,TOKEN'
                43 000000 000019 14 02 000C 'createStream' 00 4010000000000000 05
                04 000000 000028 14 01000000 02 0007 'publish' 00 4014000000000000 05 02 000A 'ROOM,TOKEN'
                02 0004 'live'
                """))
        #expect(client.places == [RTMPPlace(room: "ROOM", track: nil, token: "TOKEN", password: "")])
        #expect(client.conversation.isPublishing)
        try client.send(
            bytes(
                """
                43 000000 000025 14 02 000B 'FCUnpublish' 00 4018000000000000 05 02 000A 'ROOM,TOKEN'
                43 000000 000022 14 02 000C 'deleteStream' 00 401C000000000000 05 00 3FF0000000000000
                """))
        #expect(client.unpublishedCount == 1 && !client.conversation.isPublishing)
        // It may begin again.
        try client.send(Written.publish)
        #expect(client.places.count == 2 && client.conversation.isPublishing)
    }

    @Test("answers no command that expects no answer, as GStreamer's")
    func gstreamer() throws {
        var client = try RTMPTestClient()
        try client.send(Written.connect)
        client.answers = []
        try client.send(
            bytes(
                "43 000000 000027 14 02 000D 'releaseStream' 00 0000000000000000 05 02 000A 'ROOM,TOKEN'"))
        #expect(client.answers.isEmpty)
    }

    @Test(
        "says why a client may not publish",
        arguments: [
            (
                RTMPRefusal.unauthorized, "NetStream.Publish.Denied",
                "the stream key needs the presenters' token: ROOM?token=TOKEN"
            ),
            (.taken("the track has another source"), "NetStream.Publish.BadName", "the track has another source"),
            (.unusable("no"), "NetStream.Publish.Rejected", "no"),
        ] as [(RTMPRefusal, String, String)])
    func refused(refusal: RTMPRefusal, code: String, text: String) throws {
        var client = try RTMPTestClient(refusal: refusal)
        try client.send(Written.connect + Written.createStream)
        client.answers = []
        // What it sends after that is passed over.
        try client.send(Written.publish + Written.pictureConfiguration + Written.publish)
        #expect(client.answers == status("error", code, text))
        #expect(client.media.isEmpty && client.places.count == 1)
    }

    @Test(
        "refuses a stream key that names no room as it refuses a wrong token",
        arguments: ["a/b/c", String(repeating: "a", count: 1025)])
    func unreadableKey(key: String) throws {
        var client = try RTMPTestClient()
        try client.send(Written.connect + Written.createStream)
        client.answers = []
        var command = bytes("02 0007 'publish' 00 4014000000000000 05 02")
        command += bigEndian(key.utf8.count, 2)
        command += Array(key.utf8)
        try client.send(message(20, on: 8, command))
        let text = "the stream key needs the presenters' token: ROOM?token=TOKEN"
        #expect(client.answers == status("error", "NetStream.Publish.Denied", text))
        #expect(client.closing != nil && client.places.isEmpty)
    }

    @Test("tells a player that nothing is played")
    func play() throws {
        var client = try RTMPTestClient()
        try client.send(Written.connect + Written.createStream)
        client.answers = []
        try client.send(
            message(20, on: 8, bytes("02 0004 'play' 00 0000000000000000 05 02 0004 'ROOM'")))
        #expect(
            client.answers
                == status(
                    "error", "NetStream.Play.Failed", "this server takes streams, and plays none over RTMP"))
        #expect(client.closing != nil)
    }

    @Test("reads commands in the envelope of AMF3")
    func extendedCommands() throws {
        var client = try RTMPTestClient()
        try client.send(Written.connect)
        client.answers = []
        try client.send(message(17, on: 3, stream: 0, bytes("00 02 000C 'createStream' 00 4010000000000000 05")))
        #expect(!client.answers.isEmpty)
        #expect(throws: RTMPError.malformed("a command in AMF3")) {
            try client.send(message(17, on: 3, stream: 0, bytes("11 02 000C 'createStream'")))
        }
    }

    @Test("acknowledges what it receives, as often as the client asks, and answers pings")
    func acknowledgements() throws {
        var client = try RTMPTestClient.publishing()
        // A window of 16 KiB, which is the least.
        try client.send(bytes("02 000000 000004 05 00000000 00000010"))
        let sound = message(8, bytes("AF01") + [UInt8](repeating: 1, count: 1000))
        for _ in 0..<17 { try client.send(sound) }
        let answers = client.answers
        #expect(answers.count == 16)
        #expect(answers.starts(with: bytes("02 000000 000004 03 00000000 0000")))
        client.answers = []
        try client.send(bytes("02 000000 000006 04 00000000 0006 01020304"))
        #expect(client.answers == bytes("02 000000 000006 04 00000000 0007 01020304"))
    }

    @Test(
        "ends with a client that keeps no order",
        arguments: [
            [Written.publish], [Written.connect, Written.connect], [Written.connect, Written.publish, Written.publish],
        ])
    func order(sent: [[UInt8]]) throws {
        var client = try RTMPTestClient()
        #expect(throws: RTMPError.self) { try client.send(sent.flatMap { $0 }) }
    }

    @Test("passes nothing on of a client that doesn't publish")
    func early() throws {
        var client = try RTMPTestClient()
        try client.send(Written.connect + Written.pictureConfiguration + Written.soundConfiguration)
        #expect(client.media.isEmpty)
    }

    @Test(
        "a stream key names a room, a track and a token",
        arguments: [
            ("live", "ROOM?token=T", "ROOM", nil, "T", ""), ("live", "ROOM,T", "ROOM", nil, "T", ""),
            ("live/", "ROOM/cam?x=1&token=T", "ROOM", "cam", "T", ""),
            ("live", "ROOM/cam,T,P", "ROOM", "cam", "T", "P"),
            ("live", "?token=T,P%2C", nil, nil, "T", "P,"), ("live", "", nil, nil, "", ""),
            ("ROOM", "cam?token=T", "ROOM", "cam", "T", ""), ("ROOM?token=T", "", "ROOM", nil, "T", ""),
            ("ROOM,T", "", "ROOM", nil, "T", ""), ("ROOM", "?token=T", "ROOM", nil, "T", ""),
            ("live/ROOM", "cam,T", "ROOM", "cam", "T", ""), ("my%20room", ",T", "my room", nil, "T", ""),
            ("ROOM", "cam", "ROOM", "cam", "", ""), ("live", "live?token=T", "live", nil, "T", ""),
        ] as [(String, String, String?, String?, String, String)])
    func places(application: String, key: String, room: String?, track: String?, token: String, password: String) {
        let expected = RTMPPlace(room: room, track: track, token: token, password: password)
        #expect(RTMPPlace(application: application, key: key) == expected)
    }

    @Test(
        "or nothing", arguments: [("live", "a/b/c"), ("live", "a%zz"), ("live", String(repeating: "a", count: 1025))])
    func noPlace(application: String, key: String) {
        #expect(RTMPPlace(application: application, key: key) == nil)
    }
}
