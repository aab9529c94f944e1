import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("The turn to present")
struct TurnTests {
    private let publishing = FakePublishing()

    /// Waits until a session has ended, and returns what its viewers are told.
    private func reason() throws -> String? {
        try eventually("the session's end") { publishing.state.withLock { $0.reasons.last } }
    }

    enum Way: CaseIterable {
        case page, api, program
    }

    @Test(
        "a viewer asks, is seen by owners, presents with its own token when allowed, and not once its turn has ended",
        arguments: Way.allCases)
    func presenting(way: Way) throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Visitor(server, "audience", "Bob")
        #expect(ann.turn == "owner" && bob.turn == "none")
        func decide(_ decision: TurnDecision) throws {
            switch way {
            case .page: try ann.send(decision.rawValue, bob.id)
            case .api: #expect(try server.decide(decision.rawValue, bob.id) == 204)
            case .program: server.server.decide(decision, turnOf: bob.id)
            }
        }
        #expect(try server.present(bob) == 403)
        try bob.send("ask")
        #expect(try bob.nextTurn() == "asked")
        try ann.waitForTurns(["Bob asked"])
        #expect(try server.turns() == ["owner", "asked"])
        #expect(try server.present(bob) == 403)
        try decide(.allow)
        #expect(try bob.nextTurn() == "granted")
        try ann.waitForTurns(["Bob granted"])
        #expect(try server.present(bob) == 201)
        #expect(publishing.state.withLock { $0.presenters } == [Presenter(name: "Bob")])
        try decide(.end)
        #expect(try bob.nextTurn() == "none")
        #expect(try reason() == "the turn of Bob is over")
        try ann.waitForTurns([])
        #expect(try server.present(bob) == 403)
        withExtendedLifetime((ann, bob)) {}
    }

    @Test("a request is declined or withdrawn, a turn is given back, and a name with markup is passed on as it is")
    func declining() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Visitor(server, "audience", "<img src=x>")
        for (decision, result) in [("decline", "none"), ("allow", "granted")] {
            try bob.send("ask")
            #expect(try bob.nextTurn() == "asked")
            try ann.waitForTurns(["<img src=x> asked"])
            try ann.send(decision, bob.id)
            #expect(try bob.nextTurn() == result)
        }
        #expect(try server.present(bob) == 201)
        try bob.send("leave")
        #expect(try bob.nextTurn() == "none")
        #expect(try reason() == "<img src=x> has stopped sharing")
        try bob.send("ask")
        #expect(try bob.nextTurn() == "asked")
        try bob.send("leave")
        #expect(try bob.nextTurn() == "none")
        try ann.send("allow", bob.id)
        #expect(try ann.hearsNoTurn())
        #expect(try server.present(bob) == 403)
        withExtendedLifetime((ann, bob)) {}
    }

    @Test("a presenter hands its turn over to a member that has asked, and back, each within a second")
    func handOver() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Visitor(server, "audience", "Bob")
        let cid = try Visitor(server, "audience", "Cid")
        try bob.send("ask")
        _ = try bob.nextTurn()
        try ann.send("allow", bob.id)
        #expect(try bob.nextTurn() == "granted")
        #expect(try server.present(bob) == 201)
        for (old, new) in [(bob, cid), (cid, bob)] {
            try new.send("ask")
            #expect(try new.nextTurn() == "asked")
            try old.waitForTurns(["\(new.name) asked"])
            let before = publishing.state.withLock { $0.reasons.count }
            let start = ContinuousClock.now
            try old.send("pass", new.id)
            #expect(try new.nextTurn() == "granted")
            #expect(try old.nextTurn() == "none")
            #expect(try server.present(new) == 201)
            try eventually("the end") { publishing.state.withLock { $0.reasons.count } == before + 1 }
            #expect(ContinuousClock.now - start < .seconds(1))
            #expect(try reason() == "the turn of \(old.name) is over")
            #expect(try server.present(old) == 403)
        }
        withExtendedLifetime((ann, bob, cid)) {}
    }

    @Test("an owner whose turn another owner has ended can present only after joining again")
    func owners() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Visitor(server, "secret", "Bob")
        #expect(try server.present(bob) == 201)
        try ann.waitForTurns(["Bob owner"])
        try ann.send("end", bob.id)
        #expect(try bob.nextTurn() == "none")
        #expect(try reason() == "the turn of Bob is over")
        #expect(try server.present(bob) == 403)
        try bob.send("end", ann.id)
        #expect(try bob.hearsNoTurn())
        #expect(try server.turns() == ["owner", nil])
        try bob.client.send(event: "__join", "{\"room\":\"desk,secret\",\"role\":\"viewer\",\"name\":\"Bob\"}")
        #expect(try bob.next("_peers")["turn"] as? String == "owner")
        #expect(try server.present(bob) == 201)
        withExtendedLifetime((ann, bob)) {}
    }

    @Test("a turn that was allowed for a time ends then, even if it was handed over, and viewers are told so")
    func limited() throws {
        let server = try RunningServer.withTurns(publishing)
        let bob = try Visitor(server, "audience", "Bob")
        let cid = try Visitor(server, "audience", "Cid")
        for visitor in [bob, cid] {
            try visitor.send("ask")
            #expect(try visitor.nextTurn() == "asked")
        }
        for seconds in ["0", "x", "1m", "31536001"] {
            #expect(try server.decide("allow", bob.id, seconds: seconds) == 400)
        }
        #expect(try server.decide("decline", bob.id, seconds: "2") == 400)
        let start = ContinuousClock.now
        #expect(try server.decide("allow", bob.id, seconds: "2") == 204)
        var told = try bob.next("_turn")
        #expect(told["turn"] as? String == "granted" && told["turnLeft"] as? Int == 2)
        try bob.send("pass", cid.id)
        told = try cid.next("_turn")
        #expect(told["turn"] as? String == "granted" && (0...2).contains(told["turnLeft"] as? Int ?? -1))
        #expect(try bob.nextTurn() == "none")
        #expect(try server.present(cid) == 201)
        #expect(try cid.nextTurn() == "none")
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(try reason() == "the turn of Cid is over")
        #expect(try server.present(cid) == 403)
        withExtendedLifetime((bob, cid)) {}
    }

    @Test("decisions that can't be carried out over /api are refused with a status")
    func refusals() throws {
        let server = try RunningServer.withTurns(publishing)
        let bob = try Visitor(server, "audience", "Bob")
        for decision in TurnDecision.allCases {
            #expect(try server.decide(decision.rawValue, bob.id) == 409)
        }
        try bob.send("ask")
        #expect(try bob.nextTurn() == "asked")
        #expect(try server.decide("allow", bob.id, room: "attic") == 409)
        #expect(try server.decide("allow", "nobody") == 409)
        #expect(try server.decide("pass", bob.id) == 404)
        let path = "/api/rooms/desk/members/\(bob.id)/turn/allow"
        #expect(try server.request("GET", path, ["Authorization": "Bearer master"]).headers["allow"] == "POST")
        #expect(try server.turns() == ["asked"])
        withExtendedLifetime(bob) {}
    }

    @Test("a turn ends with its visit: when the page leaves, or moves to another room", arguments: [true, false])
    func leaving(moves: Bool) throws {
        let server = try RunningServer.withTurns(publishing)
        publishing.state.withLock { $0.isReceiving = true }
        let bob = try Visitor(server, "audience", "Bob")
        try server.allow(bob)
        #expect(try server.present(bob) == 201)
        if moves {
            try bob.client.send(event: "__join", "{\"room\":\"attic,audience\",\"role\":\"viewer\",\"name\":\"Bob\"}")
            #expect(try bob.next("_peers")["turn"] as? String == "none")
            #expect(try server.present(bob, in: "attic") == 403)
        } else {
            try bob.client.raw.send(WebSocketClient.frame(8, [0x03, 0xE9]))
            try bob.client.raw.waitForEnd()
        }
        // Although its media still arrive.
        #expect(try reason() == "the connection to Bob was lost")
        #expect(try server.present(bob) == 403)
        withExtendedLifetime(bob) {}
    }

    @Test("a viewer whose request was declined is told how long it can't ask again; others can ask at once")
    func askingAgain() throws {
        #expect(SignallingLimits().askAgainTime == .seconds(30))
        let server = try RunningServer.withTurns(publishing) {
            $0.limits.askAgainTime = .seconds(4)
            $0.limits.messagesPerSecond = 10_000
        }
        let bob = try Visitor(server, "audience", "Bob")
        let cid = try Visitor(server, "audience", "Cid")
        try bob.send("ask")
        #expect(try bob.nextTurn() == "asked")
        let start = ContinuousClock.now
        #expect(try server.decide("decline", bob.id) == 204)
        var told = try bob.next("_turn")
        #expect(told["turn"] as? String == "none" && told["turnWait"] as? Int == 4)
        let ignored = try server.ignoredMessages()
        try bob.send("ask")
        told = try bob.next("_turn")
        #expect(told["turn"] as? String == "none" && (1...4).contains(told["turnWait"] as? Int ?? 0))
        #expect(try server.ignoredMessages() == ignored + 1)
        try cid.send("ask")
        #expect(try cid.nextTurn() == "asked")
        #expect(try server.turns() == [nil, "asked"])
        try eventually(
            "the end of the wait",
            holds: {
                try bob.send("ask")
                return try bob.nextTurn() == "asked"
            })
        #expect(ContinuousClock.now - start >= .seconds(4))
        withExtendedLifetime((bob, cid)) {}
    }

    @Test("a page that goes on by another WebSocket keeps its turn, and is told how much of it is left")
    func resuming() throws {
        let server = try RunningServer.withTurns(publishing)
        publishing.state.withLock { $0.isReceiving = true }
        let bob = try Visitor(server, "audience", "Bob")
        try server.allow(bob, seconds: "3600")
        #expect(try server.present(bob) == 201)
        try bob.client.raw.breakOff()
        let again = try WebSocketClient(port: server.port)
        let key = "\"room\":\"desk,audience\",\"role\":\"viewer\""
        try again.send(event: "__join", "{\(key),\"resume\":\"\(bob.visit)\"}")
        let peers = try again.next(event: "_peers")
        #expect(peers["turn"] as? String == "granted" && (3000...3600).contains(peers["turnLeft"] as? Int ?? 0))
        #expect(try server.present(bob) == 201)
        withExtendedLifetime(again) {}
    }

    enum Lack: CaseIterable {
        case setting, publishers, token
    }

    @Test(
        "viewers can ask only if the host allows it and accepts publishers, and the room has a presenters' token",
        arguments: Lack.allCases)
    func withoutRequests(lack: Lack) throws {
        let publishing = self.publishing
        let server = try RunningServer {
            $0.acceptsTurnRequests = lack != .setting
            if lack != .publishers { $0.publishing = publishing }
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: lack == .token ? nil : "secret")
        }
        let bob = try Visitor(server, "audience", "Bob")
        #expect(bob.turn == nil)
        try bob.send("ask")
        #expect(try bob.hearsNoTurn())
        #expect(try server.present(bob) == 403)
        guard lack == .setting else { return }
        // The presenters' token is enough, until an administrator ends the turn.
        let ann = try Visitor(server, "secret", "Ann")
        #expect(try server.present(ann) == 201)
        server.server.decide(.end, turnOf: ann.id)
        #expect(try ann.nextTurn() == nil)
        #expect(try server.present(ann) == 403)
    }
}
