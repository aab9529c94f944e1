import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Attacks on turns")
struct TurnAttackTests {
    private let publishing = FakePublishing()

    /// Waits until a session has ended, and returns what its viewers are told.
    private func reason() throws -> String? {
        try eventually("the session's end") { publishing.state.withLock { $0.reasons.last } }
    }

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

    @Test("a page that joins again as a plain client loses its turn, and a plain client has none")
    func otherRole() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let ben = try Visitor(server, "secret", "Ben")
        let bob = try Visitor(server, "audience", "Bob")
        #expect(try server.present(ben) == 201)
        try server.allow(bob)
        // Owners aren't listed for a presenter without their token.
        try bob.waitForTurns([])
        // Several may present at once.
        #expect(try server.present(bob) == 201)
        #expect(publishing.state.withLock { $0.closed.isEmpty })
        try ann.waitForTurns(["Ben owner", "Bob granted"])
        for (visitor, token) in [(ben, "secret"), (bob, "audience")] {
            try visitor.client.send(event: "__join", "{\"room\":\"desk,\(token)\"}")
            #expect(try visitor.next("_peers")["turn"] == nil)
            #expect(try server.present(visitor) == 403)
        }
        try ann.waitForTurns([])
        let answer = try server.request("GET", "/api/rooms", ["Authorization": "Bearer master"])
        let members = try RoomsDocument(json: answer.text).rooms[0].members
        #expect(members.filter { $0.kind != "publisher" }.map(\.turn) == ["owner", nil, nil])
        withExtendedLifetime((ann, ben, bob)) {}
    }

    @Test("an owner that joins again with the room token is a viewer, of which other owners are told")
    func otherToken() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let ben = try Visitor(server, "secret", "Ben")
        #expect(try server.present(ben) == 201)
        try ann.waitForTurns(["Ben owner"])
        try ben.client.send(event: "__join", "{\"room\":\"desk,audience\",\"role\":\"viewer\",\"name\":\"Ben\"}")
        #expect(try ben.next("_peers")["turn"] as? String == "none")
        #expect(try reason() == "the turn of Ben is over")
        try ann.waitForTurns([])
        try ben.send("end", ann.id)
        #expect(try ann.hearsNoTurn())
        #expect(try server.present(ben) == 403)
        withExtendedLifetime((ann, ben)) {}
    }

    @Test("a member that was removed presents no longer, not even with the secret of its visit, and has no turn")
    func removed() throws {
        let server = try RunningServer.withTurns(publishing)
        let bob = try Visitor(server, "audience", "Bob")
        try server.allow(bob)
        #expect(try server.present(bob) == 201)
        server.server.removeParticipant(bob.id)
        #expect(try reason() == "Bob was removed by the sharer")
        #expect(try server.present(bob) == 403)
        for decision in ["allow", "end"] { #expect(try server.decide(decision, bob.id) == 409) }
        #expect(try server.turns().isEmpty)
        withExtendedLifetime(bob) {}
    }

    @Test("messages without effect are counted, and limited like any others")
    func useless() throws {
        let server = try RunningServer.withTurns(publishing)
        let eve = try Visitor(server, "audience", "Eve")
        let before = try server.ignoredMessages()
        let actions = ["leave", "pass", "allow", "decline", "end", "grant"]
        for action in actions { try eve.send(action, eve.id) }
        #expect(try eve.hearsNoTurn())
        #expect(try server.ignoredMessages() == before + actions.count)
        try eve.send("ask")
        #expect(try eve.nextTurn() == "asked")
        #expect(try server.ignoredMessages() == before + actions.count)
        for _ in 0..<150 { try eve.send("ask") }
        try eventually("the end", holds: { try eve.client.next() == .close(1008) })
    }

    @Test("any number of requests leaves the presenter in the list, and lists are sent at most once per second")
    func flood() throws {
        let server = try RunningServer.withTurns(publishing)
        var crowd: [Visitor] = []
        for number in 0..<60 {
            let eve = try Visitor(server, "audience", "Eve\(number)")
            try eve.send("ask")
            #expect(try eve.nextTurn() == "asked")
            crowd.append(eve)
        }
        let bob = try Visitor(server, "audience", "B\\u001b[2Job\\u202e")
        try server.allow(bob)
        let ann = try Visitor(server, "secret", "Ann")
        let listed = try ann.next("_turns")["members"] as? [[String: Any]] ?? []
        let names = listed.map { $0["name"] as? String ?? "" }
        #expect(names == ["B[2Job"] + (0..<49).map { "Eve\($0)" })

        let began = ContinuousClock.now
        for _ in 0..<20 {
            for (action, turn) in [("leave", "none"), ("ask", "asked")] {
                try crowd[0].send(action)
                #expect(try crowd[0].nextTurn() == turn)
            }
        }
        let lists = try ann.listsHeard()
        let seconds = (ContinuousClock.now - began).components.seconds
        // One more for the time before, and one for the part of a second.
        #expect(lists <= Int(seconds) + 2)
        withExtendedLifetime((crowd, bob, ann)) {}
    }
}
