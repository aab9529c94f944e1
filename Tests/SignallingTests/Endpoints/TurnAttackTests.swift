import Synchronization
import Testing

@testable import Signalling

@Suite("Turns that aren't one's own")
struct TurnAttackTests {
    private let publishing = FakePublishing()

    @Test("neither a viewer nor a presenter without the token decides: by page, WHIP, SkyRTC, socket.io and /api")
    func attackers() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Visitor(server, "audience", "Bob")
        let cid = try Visitor(server, "audience", "Cid")
        let eve = try Visitor(server, "audience", "Eve")
        for visitor in [bob, cid] {
            try visitor.send("ask")
            #expect(try visitor.nextTurn() == "asked")
        }
        try ann.send("allow", bob.id)
        #expect(try bob.nextTurn() == "granted")
        #expect(try server.present(bob) == 201)

        // By the page's WebSocket: for oneself and for others, and by presenters too.
        for target in [ann, bob, cid, eve] {
            for action in ["allow", "decline", "end", "pass"] { try eve.send(action, target.id) }
            for action in ["allow", "decline", "end"] { try bob.send(action, target.id) }
        }
        try bob.send("pass", eve.id)
        try eve.send("grant", eve.id)
        for visitor in [bob, cid, eve] { #expect(try visitor.hearsNoTurn()) }
        // An owner of another room.
        let stranger = try Visitor(server, "secret", "Sam", room: "attic")
        for action in ["allow", "decline"] { try stranger.send(action, cid.id) }
        try stranger.send("end", bob.id)
        for visitor in [stranger, cid, bob] { #expect(try visitor.hearsNoTurn()) }

        // By WHIP: with the own visit, and with what is known of another's.
        #expect(try server.present(eve) == 403)
        #expect(try server.present(eve, in: "attic") == 403)
        #expect(try server.present(bob, in: "attic") == 403)
        for visit in [bob.id, "", "no visit"] {
            let answer = try server.request(
                "POST", "/whip/desk/evil",
                ["Authorization": "Bearer audience", "Content-Type": "application/sdp", "X-Visit": visit],
                body: EndpointClient.offer)
            #expect(answer.status == 403)
        }

        // By SkyRTC and socket.io.
        var peers: [WebSocketClient] = []
        for token in ["audience", "secret"] {
            let client = try WebSocketClient(port: server.port)
            try client.send(event: "__join", "{\"room\":\"desk,\(token)\"}")
            let peer = try client.next(event: "_peers")
            #expect(peer["turn"] == nil)
            for action in ["ask", "allow", "end"] {
                try client.send(event: "__turn", "{\"action\":\"\(action)\",\"socketId\":\"\(cid.id)\"}")
            }
            try client.send(event: "__clock", "{\"t\":1}")
            _ = try client.next(event: "_clock")
            peers.append(client)
        }
        let caller = try WebSocketClient.socketIO(server, version: 4)
        try caller.send("42[\"join\",\"desk,audience\"]")
        #expect(try caller.nextEvent().first as? String == "joined")
        for action in ["ask", "allow"] {
            try caller.send("42[\"__turn\",{\"action\":\"\(action)\",\"socketId\":\"\(cid.id)\"}]")
        }
        // A packet with a number is acknowledged.
        try caller.send("421[\"__turn\",\"allow\"]")
        var answer = ""
        while !answer.hasPrefix("431") {
            if case .text(let text) = try caller.next() { answer = text }
        }

        for token in ["audience", "secret", ""] {
            #expect(try server.decide("allow", cid.id, token: token) == 401)
        }
        #expect(try server.turns() == ["owner", "granted", "asked", nil])
        #expect(publishing.state.withLock { $0.published.count == 1 && $0.closed.isEmpty })
        withExtendedLifetime((ann, bob, cid, eve, stranger, peers)) {}
    }
}
