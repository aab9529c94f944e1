import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Attacks by removing others")
struct RemovalAttackTests {
    private let publishing = FakePublishing()

    /// What a member of a room might send about the member `target` to have it removed.
    private func attack(_ client: WebSocketClient, _ target: String) throws {
        for event in ["__kick", "__remove", "__remove_peer", "_refused", "_session_ended"] {
            try client.send(event: event, "{\"socketId\":\"\(target)\",\"room\":\"desk\"}")
        }
        for action in ["remove", "refuse", "kick"] {
            for event in ["__turn", "__door"] {
                try client.send(event: event, "{\"action\":\"\(action)\",\"socketId\":\"\(target)\"}")
            }
        }
    }

    @Test("no viewer, presenter or owner removes others: by page, WHEP, WHIP, SkyRTC, socket.io and /api")
    func attackers() throws {
        let server = try RunningServer.withTurns(publishing)
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "audience", "Bob"))
        let eve = try Visitor(server, "audience", "Eve")
        try server.allow(bob)
        let offer = ["Content-Type": "application/sdp", "Authorization": "Bearer audience"]
        let published = try server.request(
            "POST", "/whip/desk/screen-b", offer.merging(["X-Visit": bob.visit]) { $1 }, body: EndpointClient.offer)
        let played = try server.request("POST", "/whep/desk", offer, body: EndpointClient.offer)
        let publisher = String(try #require(published.headers["location"]?.split(separator: "/").last))
        let player = String(try #require(played.headers["location"]?.split(separator: "/").last))
        let caller = try WebSocketClient.socketIO(server, version: 4)
        try caller.send("42[\"join\",\"desk,audience\"]")
        let joined = try caller.nextEvent()
        #expect(joined.first as? String == "joined")
        #expect(try caller.nextEvent().first as? String == "message")
        let callerID = try #require(joined.last as? String)
        let before = try server.firstRoom().members.map(\.id)
        #expect(before.count == 6)

        // By the page's WebSocket, and by SkyRTC.
        for visitor in [ann, bob, eve] {
            for target in [ann.id, bob.id, eve.id, callerID] { try attack(visitor.client, target) }
            #expect(try visitor.hearsNoTurn())
        }
        var peers: [Knocker] = []
        for token in ["audience", "secret"] {
            let peer = try Knocker(server, "Pat", token: token, more: "")
            #expect(try peer.entered() != nil)
            for target in [ann.id, bob.id, eve.id] { try attack(peer.client, target) }
            try peer.waitForClock()
            peers.append(peer)
        }

        // By WHEP and WHIP: with what is known of others, and with a secret in the wrong place.
        for token in ["audience", "secret"] {
            let headers = ["Authorization": "Bearer \(token)", "X-Visit": eve.visit]
            let known = [ann.id, bob.id, eve.visit, "player-1", "player-2", "publisher-1", "publisher-2", "*"]
            for name in known + [player] {
                let answer = try server.request("DELETE", "/whip/desk/screen-b/\(name)", headers)
                #expect(answer.status == (token == "secret" ? 404 : 403), "\(name)")
            }
            for name in known + [publisher] {
                #expect(try server.request("DELETE", "/whep/desk/\(name)", headers).status == 404, "\(name)")
            }
            #expect(try server.request("DELETE", "/whep/attic/\(player)", headers).status == 404)
            #expect(try server.request("PATCH", "/whep/attic/\(player)", headers, body: "").status == 404)
        }

        // By socket.io: from another client, for which the room is full, and which has only itself removed.
        let other = try WebSocketClient.socketIO(server, version: 4)
        try other.send("42[\"join\",\"desk,audience\"]")
        #expect(try other.nextEvent().first as? String == "full")
        try other.send("42[\"kick\",\"desk,audience\",\"\(callerID)\"]")
        try other.send("42[\"message\",\"desk,audience\",{\"type\":\"bye\",\"id\":\"\(callerID)\"}]")
        try other.send("42[\"leave\",\"desk,audience\",\"\(callerID)\"]")
        #expect(try other.nextEvent().first as? String == "leaved")
        // The caller is told nothing of that. Its ping is answered, and the host may have sent one.
        try caller.send("2")
        var frames: [WebSocketClient.Frame] = []
        while frames.last != .text("3") { frames.append(try caller.next()) }
        #expect(frames.dropLast().allSatisfy { $0 == .text("2") }, "\(frames)")

        // By /api.
        for token in ["audience", "secret", bob.visit, ""] {
            for id in [ann.id, eve.id, "publisher-1", callerID] {
                let answer = try server.request(
                    "DELETE", "/api/rooms/desk/members/\(id)", ["Authorization": "Bearer \(token)"])
                #expect(answer.status == 401)
            }
        }
        let after = try server.firstRoom().members.map(\.id)
        #expect(Set(before).isSubset(of: after))
        #expect(try server.turns() == ["owner", "granted", nil])
        #expect(publishing.state.withLock { $0.closed.isEmpty })
        withExtendedLifetime((ann, bob, eve, peers)) {}
    }
}
