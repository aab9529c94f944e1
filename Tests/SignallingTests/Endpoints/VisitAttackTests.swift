import MediaSessions
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Attacks on visits that present")
struct VisitAttackTests {
    private let publishing = FakePublishing()

    /// Offers a track over WHIP with the secret of a visit.
    private func offer(
        _ server: borrowing RunningServer, _ visit: String, _ more: [String: String], track: String = "evil"
    ) throws -> RawResponse {
        try server.request(
            "POST", "/whip/desk/\(track)",
            more.merging(["Content-Type": "application/sdp", "X-Visit": visit]) { $1 }, body: EndpointClient.offer)
    }

    private func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    @Test("a turn is used with the very secret of its visit, and needs the room's token and password as well")
    func secrets() throws {
        let server = try RunningServer.withTurns(publishing) {
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret", isPassword: { $0 == "sesame" })
        }
        let bob = try Visitor(server, "audience,sesame", "Bob")
        let eve = try Visitor(server, "audience,sesame", "Eve")
        try server.allow(bob)
        for token in ["audience", "audience,wrong", "wrong,sesame", ",sesame", ""] {
            #expect(try offer(server, bob.visit, bearer(token)).status == 401, "\(token)")
        }
        #expect(try offer(server, bob.visit, [:]).status == 401)
        let guesses = [
            bob.visit.uppercased(), String(bob.visit.dropLast()), bob.visit + "0", "\(bob.visit), \(bob.visit)",
            "\(eve.visit), \(bob.visit)", "\"\(bob.visit)\"", eve.visit, eve.id, bob.id, newIdentifier(), "*",
        ]
        for visit in guesses {
            #expect(try offer(server, visit, bearer("audience,sesame")).status == 403, "\(visit)")
        }
        #expect(publishing.state.withLock { $0.published.isEmpty })
        #expect(try offer(server, bob.visit, bearer("audience,sesame")).status == 201)
        withExtendedLifetime((bob, eve)) {}
    }

    @Test("in an open room, a page of another origin can't use a turn, and a page of an allowed one can")
    func origins() throws {
        let server = try RunningServer.withTurns(publishing) {
            $0.rooms[0].access = RoomAccess(viewing: nil, presenting: "secret")
            $0.allowedOrigins = ["https://friend.example"]
        }
        let bob = try Visitor(server, "", "Bob")
        try server.allow(bob)
        for origin in ["https://other.example", "http://127.0.0.1:1", "null", "garbage"] {
            let refused = try offer(server, bob.visit, ["Origin": origin])
            #expect(refused.status == 403 && refused.headers["access-control-allow-origin"] == nil, "\(origin)")
        }
        #expect(publishing.state.withLock { $0.published.isEmpty })
        #expect(try offer(server, bob.visit, ["Origin": "https://friend.example"]).status == 201)
        withExtendedLifetime(bob) {}
    }

    @Test(
        "the end of a turn ends all that is presented in it, and the sessions' URLs then lead to nothing",
        arguments: ["end", "pass", "leave"])
    func sessions(ending: String) throws {
        let server = try RunningServer.withTurns(publishing)
        let (bob, cid) = (try Visitor(server, "audience", "Bob"), try Visitor(server, "audience", "Cid"))
        try server.allow(bob)
        try cid.send("ask")
        #expect(try cid.nextTurn() == "asked")
        var locations: [String] = []
        for track in ["screen-b", "camera-b"] {
            let answer = try offer(server, bob.visit, bearer("audience"), track: track)
            locations.append(try #require(answer.headers["location"]))
        }
        switch ending {
        case "end": #expect(try server.decide("end", bob.id) == 204)
        case "pass": try bob.send("pass", cid.id)
        default: try bob.send("leave")
        }
        #expect(try bob.nextTurn() == "none")
        try eventually("both sessions' end", holds: { publishing.state.withLock { $0.closed.count == 2 } })
        let headers = ["Content-Type": "application/trickle-ice-sdpfrag", "X-Visit": bob.visit]
        for location in locations {
            for method in ["GET", "PATCH", "DELETE"] {
                let answer = try server.request(
                    method, location, headers.merging(bearer("audience")) { $1 },
                    body: method == "PATCH" ? "a=candidate:1" : nil)
                #expect(answer.status == 403, "\(method)")
            }
        }
        #expect(try server.present(bob) == 403)
        #expect(publishing.state.withLock { $0.closed.count == 2 && $0.candidates.isEmpty })
        withExtendedLifetime((bob, cid)) {}
    }

    @Test("a turn that was allowed for a time ends then even if its page has no connection, and doesn't come back")
    func away() throws {
        let server = try RunningServer.withTurns(publishing) { $0.limits.returnTime = .seconds(3600) }
        publishing.state.withLock { $0.isReceiving = true }
        let bob = try Visitor(server, "audience", "Bob")
        try server.allow(bob, seconds: "4")
        #expect(try server.present(bob) == 201)
        try bob.client.raw.breakOff()
        let reason = try eventually("the session's end") { publishing.state.withLock { $0.reasons.last } }
        #expect(reason == "the turn of Bob is over")
        #expect(try server.present(bob) == 403)
        let again = try Visitor(server, "audience", "Bob", secrets: ",\"resume\":\"\(bob.visit)\"")
        #expect(again.id == bob.id && again.turn == "none")
        #expect(try server.present(again) == 403)
        withExtendedLifetime(again) {}
    }

    @Test("a presenter hands its turn over to no one who hasn't asked in its room: to no owner, stranger or newcomer")
    func handOver() throws {
        let server = try RunningServer.withTurns(publishing) { $0.rooms[0].hasWaitingRoom = true }
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Knocker.waiting(server, "Bob")
        let id = try #require(try ann.waitForDoor(["Bob"]).first)
        try ann.door("admit", id)
        #expect(try bob.entered() == id)
        try bob.client.send(event: "__turn", "{\"action\":\"ask\"}")
        try ann.waitForTurns(["Bob asked"])
        try ann.send("allow", id)
        try ann.waitForTurns(["Bob granted"])

        let sue = try Visitor(server, "audience", "Sue", room: "attic")
        try sue.send("ask")
        #expect(try sue.nextTurn() == "asked")
        let wes = try Knocker.waiting(server, "Wes")
        let newcomer = try #require(try ann.waitForDoor(["Wes"]).first)
        let before = try server.ignoredMessages()
        try wes.client.send(event: "__turn", "{\"action\":\"ask\"}")
        try eventually("what Wes has sent", holds: { try server.ignoredMessages() == before + 1 })
        let targets = [ann.id, id, sue.id, newcomer, "nobody", ""]
        for target in targets {
            try bob.client.send(event: "__turn", "{\"action\":\"pass\",\"socketId\":\"\(target)\"}")
        }
        try bob.waitForClock()
        #expect(try server.ignoredMessages() == before + 1 + targets.count)
        #expect(try server.turns() == ["owner", "granted"])
        #expect(try sue.hearsNoTurn())
        #expect(try server.present(sue, in: "attic") == 403)
        withExtendedLifetime((ann, bob, sue, wes)) {}
    }

    @Test("when a room's links expire, all who present there are removed, whatever they use, and present no longer")
    func expiry() throws {
        let clock = TestClock()
        let server = try RunningServer.withTurns(publishing) {
            $0.rooms[0].access.expiry = 2000
            $0.lifetimeClock = { clock.now }
        }
        publishing.state.withLock { $0.isReceiving = true }
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "audience", "Bob"))
        let sue = try Visitor(server, "secret", "Sue", room: "attic")
        try server.allow(bob)
        for visitor in [ann, bob] { #expect(try server.present(visitor) == 201) }
        #expect(try server.present(sue, in: "attic") == 201)
        // A program without a visit.
        let sdp = bearer("secret").merging(["Content-Type": "application/sdp"]) { $1 }
        #expect(try server.request("POST", "/whip/desk/camera", sdp, body: EndpointClient.offer).status == 201)
        let caller = try WebSocketClient.socketIO(server, version: 4)
        try caller.send("42[\"join\",\"desk,audience\"]")
        #expect(try caller.nextEvent().first as? String == "joined")

        clock.now = 2000
        for visitor in [ann, bob] { #expect(try Knocker(client: visitor.client).closeCode() == 4411) }
        var event = ""
        while event != "leaved" { event = try caller.nextEvent().first as? String ?? "" }
        try eventually(
            "the three sessions' end",
            holds: { Set(publishing.state.withLock { $0.closed }.map(\.rawValue)) == [1, 2, 4] })
        for visitor in [ann, bob] { #expect(try server.present(visitor) == 401) }
        #expect(try server.request("POST", "/whip/desk/camera", sdp, body: EndpointClient.offer).status == 401)
        for decision in ["allow", "end"] { #expect(try server.decide(decision, bob.id) == 409) }
        // The other room's links are still valid.
        #expect(try server.present(sue, in: "attic") == 201)
        withExtendedLifetime((ann, bob, sue, caller)) {}
    }
}
