import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("SkyRTC over WebSockets")
struct MemberTests {
    @Test("a viewer joins, is told the source's state, offers and gets the host's answer")
    func viewer() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        let peers = try client.next(event: "_peers")
        let host = try #require(peers["host"] as? String)
        #expect(peers["connections"] as? [String] == [host])
        #expect((peers["you"] as? String)?.count == 36)
        #expect(try client.next(event: "_state")["source"] as? String == "waiting")
        #expect(server.server.audience(of: "desk") == RoomAudience(members: 1, players: 0))

        try client.send(offer: "v=0 mine", to: host)
        let answer = try client.next(event: "_answer")
        #expect(answer["socketId"] as? String == host)
        #expect(answer["sdp"] as? [String: String] == ["type": "answer", "sdp": FakeMedia.answer])
        #expect(server.media.state.withLock { $0.offers } == ["v=0 mine"])
        try client.send(
            event: "__ice_candidate", "{\"label\":0,\"candidate\":\"candidate:1\",\"socketId\":\"\(host)\"}")
        try eventually("the candidate") { server.media.state.withLock { $0.fragments == ["candidate:1"] } }

        server.server.announce(.live, room: "desk")
        server.server.announce(.live, room: "desk")
        server.server.announce(.paused(.sharer), room: "desk")
        server.server.announce(.paused(.screenLocked), room: "desk")
        server.server.announce(.gone(since: .zero, reason: "capture has ended"), room: "desk")
        let live = try client.next(event: "_state")
        #expect(live["source"] as? String == "live")
        #expect(live["message"] == nil)
        for words in ["The sharer has paused.", "The screen is locked."] {
            let paused = try client.next(event: "_state")
            #expect(paused["source"] as? String == "paused")
            #expect(paused["message"] as? String == words)
        }
        let gone = try client.next(event: "_state")
        #expect(gone["source"] as? String == "gone")
        #expect(gone["since"] as? Double == 0)
        #expect(gone["message"] as? String == "capture has ended")

        server.media.end(1, "no word for 30 s")
        let ended = try client.next(event: "_session_ended")
        #expect(ended["reason"] as? String == "no word for 30 s")
        #expect(ended["socketId"] as? String == host)
    }

    @Test("who joins while the sharer pauses is told so at once, and for how long it has been so")
    func joinsPaused() throws {
        let server = try RunningServer()
        server.server.announce(.paused(.sharer), room: "desk")
        try server.server.waitUntilTaken()
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        _ = try client.next(event: "_peers")
        let state = try client.next(event: "_state")
        #expect(state["source"] as? String == "paused")
        #expect(state["message"] as? String == "The sharer has paused.")
        #expect(try #require(state["since"] as? Double) >= 0)
    }

    @Test("viewers are told of a source that is never silent")
    func steadySource() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        _ = try client.next(event: "_peers")
        #expect(try client.next(event: "_state")["steady"] == nil)
        server.media.state.withLock { $0.isSteady = true }
        server.server.announce(.live, room: "desk")
        #expect(try client.next(event: "_state")["steady"] as? Bool == true)
    }

    @Test("viewers are told once of sound, of its muting and of its end, and who joins later of what holds then")
    func sound() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        _ = try client.joinAsViewer("desk,secret")
        for sound in [AudioState.none, .live, .live, .muted, .none] {
            server.server.announceSound(sound, room: "desk")
        }
        for word in ["live", "muted", "none"] {
            let data = try client.next(event: "_sound")
            #expect(data["sound"] as? String == word)
            #expect(data["track"] == nil)
        }
        // Without sound, the clock's answer is what comes next.
        let silent = try WebSocketClient(port: server.port)
        _ = try silent.joinAsViewer("desk,secret")
        try silent.send(event: "__clock", "{\"t\":1}")
        _ = try silent.next(event: "_clock")
        server.server.announceSound(.muted, room: "desk")
        #expect(try silent.next(event: "_sound")["sound"] as? String == "muted")
        let late = try WebSocketClient(port: server.port)
        _ = try late.joinAsViewer("desk,secret")
        #expect(try late.next(event: "_sound")["sound"] as? String == "muted")
    }

    @Test("who has joined is told the host's clock, with its own stamp; who hasn't is told nothing")
    func clock() throws {
        final class Reading: Sendable {
            let time = Mutex(Int64(1_800_000_000_000_000))
        }
        let reading = Reading()
        let server = try RunningServer { configuration in
            configuration.clock = {
                reading.time.withLock { time in
                    // Seven microseconds pass between two looks.
                    time += 7
                    return time
                }
            }
        }
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__clock", "{\"t\":1}")
        try client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\"}")
        try client.send(event: "__clock", "{\"t\":1234.5}")
        try client.send(event: "__clock", "{\"t\":\"now\"}")
        try client.send(event: "_clock", "{\"t\":2}")
        _ = try client.next(event: "_peers")
        _ = try client.next(event: "_state")
        for stamp in [1234.5, 2] {
            let answer = try client.next(event: "_clock")
            #expect(answer["t"] as? Double == stamp)
            let received = try #require(answer["received"] as? Int)
            #expect(received > 1_800_000_000_000_000)
            #expect(answer["sent"] as? Int == received + 7 && answer["waited"] == nil)
        }
        // Whoever watches a track learns how old its changes are when they are captured.
        server.media.state.withLock { $0.changeAge = .microseconds(2600) }
        try client.send(event: "__clock", "{\"t\":3}")
        #expect(try client.next(event: "_clock")["waited"] == nil)
        try client.send(event: "__offer", "{\"sdp\":{\"type\":\"offer\",\"sdp\":\"v=0\"}}")
        _ = try client.next(event: "_answer")
        try client.send(event: "__clock", "{\"t\":4}")
        #expect(try client.next(event: "_clock")["waited"] as? Int == 2600)
    }

    @Test("two plain clients see each other and the host, and talk through the room")
    func peers() throws {
        let server = try RunningServer()
        let ann = try WebSocketClient(port: server.port, path: "/")
        try ann.send(event: "__join", "{\"room\":\"desk,secret\"}")
        let annID = try #require(try ann.next(event: "_peers")["you"] as? String)
        let ben = try WebSocketClient(port: server.port)
        // As SkyRTC's iOS client does: a binary frame.
        try ben.send("{\"eventName\":\"__join\",\"data\":{\"room\":\"desk,secret\"}}", opcode: 2)
        let peers = try ben.next(event: "_peers")
        let host = try #require(peers["host"] as? String)
        let benID = try #require(peers["you"] as? String)
        #expect(peers["connections"] as? [String] == [annID, host])
        #expect(try ann.next(event: "_new_peer")["socketId"] as? String == benID)

        try ben.send(offer: "o", to: annID)
        #expect(try ann.next(event: "_offer")["socketId"] as? String == benID)
        try ann.send(event: "_answer", "{\"sdp\":{\"type\":\"answer\",\"sdp\":\"a\"},\"socketId\":\"\(benID)\"}")
        #expect(try ben.next(event: "_answer")["sdp"] as? [String: String] == ["type": "answer", "sdp": "a"])
        try ben.send(
            event: "__ice_candidate", "{\"label\":\"1\",\"id\":\"video\",\"candidate\":\"c\",\"socketId\":\"\(annID)\"}"
        )
        let candidate = try ann.next(event: "_ice_candidate")
        #expect(candidate["label"] as? Int == 1)
        #expect(candidate["sdpMLineIndex"] as? Int == 1)
        #expect(candidate["id"] as? String == "video")
        #expect(candidate["sdpMid"] as? String == "video")
        #expect(candidate["candidate"] as? String == "c")
        #expect(candidate["socketId"] as? String == benID)

        try ben.raw.send(WebSocketClient.frame(8, [0x03, 0xE8]))
        #expect(try ben.next() == .close(1000))
        try ben.raw.waitForEnd()
        #expect(try ann.next(event: "_remove_peer")["socketId"] as? String == benID)
    }

    @Test(
        "a wrong token, a wrong room and no room are refused with the same bytes and 4403",
        arguments: [
            "desk,wrong", "desk", "attic,secret", "", "desk,secret ",
        ])
    func refused(key: String) throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        try client.send(event: "__join", "{\"room\":\"\(key)\",\"role\":\"viewer\"}")
        #expect(try client.next() == .text("{\"data\":{},\"eventName\":\"_refused\"}"))
        #expect(try client.next() == .close(4403))
        try client.raw.send(WebSocketClient.frame(8, [0x11, 0x33]))
        try client.raw.waitForEnd()
        #expect(server.server.audience(of: "desk") == RoomAudience())
    }

    @Test("an offer that the media side refuses is answered in words")
    func refusedOffer() throws {
        let server = try RunningServer()
        server.media.state.withLock { $0.refusal = .unsupported("your browser has no H.264") }
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        try client.send(offer: "v=0", to: host)
        #expect(try client.next(event: "_refused")["reason"] as? String == "your browser has no H.264")
    }

    @Test("a host that is full says so and closes with 4503, so that the client comes back later")
    func full() throws {
        let server = try RunningServer()
        server.media.state.withLock { $0.refusal = .full("the limit of 50 viewers is reached") }
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        try client.send(offer: "v=0", to: host)
        #expect(try client.next(event: "_refused")["reason"] as? String == "the limit of 50 viewers is reached")
        #expect(try client.next() == .close(4503))
    }

    @Test("a socket that closes without a word ends its session")
    func lost() throws {
        let server = try RunningServer()
        do {
            let client = try WebSocketClient(port: server.port)
            let (_, host) = try client.joinAsViewer("desk,secret")
            try client.send(offer: "v=0", to: host)
            _ = try client.next(event: "_answer")
        }
        try eventually("the session's end") {
            server.media.state.withLock { $0.closed == [MediaSessionID(rawValue: 1)] }
        }
        try eventually("the member's end") { server.server.audience(of: "desk") == RoomAudience() }
    }

    @Test("who joins again in the same socket moves and keeps nothing of the first time")
    func rejoin() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        let (_, host) = try client.joinAsViewer("desk,secret")
        try client.send(offer: "v=0", to: host)
        _ = try client.next(event: "_answer")
        _ = try client.joinAsViewer("desk,secret")
        #expect(server.media.state.withLock { $0.closed } == [MediaSessionID(rawValue: 1)])
        #expect(server.server.audience(of: "desk") == RoomAudience(members: 1, players: 0))
    }

    @Test("what isn't a message of the protocol does nothing")
    func nonsense() throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        let nonsense = [
            "", "{}", "[]", "null", "42", "{\"eventName\":1}",
            "{\"eventName\":\"join\",\"data\":{\"room\":\"desk,secret\"}}",
            "{\"eventName\":\"___join\"}", "{\"eventName\":\"__error\",\"data\":{}}", "{\"eventName\":\"__offer\"}",
            "{\"eventName\":\"__offer\",\"data\":{\"sdp\":7}}", "{\"eventName\":\"__offer\",\"data\":[]}",
            "{\"eventName\":",
        ]
        _ = try client.joinAsViewer("desk,secret")
        for text in nonsense { try client.send(text) }
        _ = try client.joinAsViewer("desk,secret")
        // Nor does any of them before the client has joined.
        for text in nonsense {
            let newcomer = try WebSocketClient(port: server.port)
            try newcomer.send(text)
            _ = try newcomer.joinAsViewer("desk,secret")
        }
    }

    @Test("JSON nested as deep as a message can be does nothing", arguments: ["[", "{\"data\":"])
    func deepNesting(opening: String) throws {
        let server = try RunningServer()
        let client = try WebSocketClient(port: server.port)
        _ = try client.joinAsViewer("desk,secret")
        try client.send(String(repeating: opening, count: 60_000 / opening.utf8.count))
        _ = try client.joinAsViewer("desk,secret")
        let newcomer = try WebSocketClient(port: server.port)
        try newcomer.send(String(repeating: opening, count: 4_000 / opening.utf8.count))
        _ = try newcomer.joinAsViewer("desk,secret")
    }
}

@Suite("SkyRTC's JSON")
struct SkyRTCMessageTests {
    @Test("mutated messages never trap")
    func mutations() {
        var random = SeededRandom(seed: 11)
        let valid = Array(
            "{\"eventName\":\"__ice_candidate\",\"data\":{\"label\":0,\"candidate\":\"c\",\"id\":\"0\",\"socketId\":\"x\"}}"
                .utf8)
        for count in 0...valid.count {
            let message = SkyRTCMessage(String(decoding: valid.prefix(count), as: UTF8.self))
            #expect((message != nil) == (count == valid.count))
        }
        for _ in 0..<2000 {
            _ = SkyRTCMessage(String(decoding: random.mutation(of: valid), as: UTF8.self))
        }
    }
}
