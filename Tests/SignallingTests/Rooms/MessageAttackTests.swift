import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Attacks by pointing and writing")
struct MessageAttackTests {
    /// A host with the room "desk", and the room "attic" with the track "loft".
    private func server(_ loft: FakeMedia) throws -> RunningServer {
        let server = try RunningServer { $0.rooms.append(RoomConfiguration(name: "attic", token: "secret")) }
        server.server.addTrack("loft", media: loft, room: "attic")
        try server.server.waitUntilTaken()
        return server
    }

    /// The texts of the chat's messages that `visitor` has been sent since the last one that was read.
    private func texts(_ visitor: Visitor) throws -> [String] {
        try visitor.client.send(event: "__clock", "{\"t\":1}")
        return try visitor.heardBeforeClock("_chat").flatMap { data in
            (data["messages"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
        }
    }

    /// How many dots `visitor` has been told of since the last one that was read.
    private func dots(_ visitor: Visitor) throws -> Int {
        try visitor.client.send(event: "__clock", "{\"t\":1}")
        return try visitor.heardBeforeClock("_point").count { $0["x"] != nil || $0["path"] != nil }
    }

    @Test("no one points or writes into another room, whatever the message names")
    func elsewhere() throws {
        let loft = FakeMedia()
        let server = try server(loft)
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        let (sue, sam) = (
            try Visitor(server, "secret", "Sue", room: "attic"), try Visitor(server, "secret", "Sam", room: "attic")
        )
        for track in ["loft", "attic.loft", "attic/loft"] {
            let place = "{\"x\":0.5,\"y\":0.5,\"track\":\"\(track)\",\"path\":[[0.5,0.5]]}"
            try ann.client.send(event: "__point", place)
        }
        let target = "\"room\":\"attic,secret\",\"socketId\":\"\(sue.id)\""
        try ann.client.send(event: "__point", "{\"x\":0.25,\"y\":0.5,\(target)}")
        try ann.client.send(event: "__chat", "{\"text\":\"one\",\(target)}")
        // Both have gone to the room that Ann is in.
        #expect(try bob.next("_point")["x"] as? Double == 0.25)
        #expect(try ann.next("_chat")["last"] as? Int == 1)
        #expect(try dots(sue) == 0)
        #expect(try texts(sam).isEmpty)
        #expect(loft.state.withLock { $0.points.isEmpty })
        withExtendedLifetime((ann, bob, sue, sam)) {}
    }

    @Test("a member that has moved to another room, or was refused one, no longer writes, reads or points in the first")
    func afterLeaving() throws {
        let loft = FakeMedia()
        let server = try server(loft)
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        let (cid, sam) = (
            try Visitor(server, "secret", "Cid"), try Visitor(server, "secret", "Sam", room: "attic")
        )
        try bob.client.send(event: "__chat", "{\"text\":\"one\"}")
        for visitor in [ann, bob] { #expect(try visitor.next("_chat")["last"] as? Int == 1) }
        try ann.client.send(event: "__join", "{\"room\":\"attic,secret\",\"role\":\"viewer\",\"name\":\"Ann\"}")
        #expect((try ann.next("_peers")["chat"] as? [String: Any])?["last"] as? Int == 0)
        try ann.client.send(event: "__chat", "{\"after\":0}")
        try ann.client.send(event: "__point", "{\"x\":0.5,\"y\":0.5}")
        try ann.client.send(event: "__chat", "{\"text\":\"two\"}")
        #expect(try sam.next("_chat")["last"] as? Int == 1)
        #expect(try texts(ann) == ["two"])
        try eventually("the dot on the attic's track", holds: { loft.state.withLock { !$0.points.isEmpty } })
        #expect(server.media.state.withLock { $0.points.isEmpty })
        #expect(try texts(bob).isEmpty)
        #expect(try dots(cid) == 0)

        // Refused, it is in no room, although its WebSocket is still open for a moment.
        try ann.client.send(event: "__join", "{\"room\":\"desk,wrong\",\"role\":\"viewer\",\"name\":\"Ann\"}")
        try ann.client.send(event: "__chat", "{\"text\":\"three\"}")
        try ann.client.send(event: "__point", "{\"x\":0.75,\"y\":0.5}")
        try Knocker(client: ann.client).leave()
        #expect(try texts(bob).isEmpty)
        #expect(try texts(sam).isEmpty)
        #expect(try dots(cid) == 0)
        withExtendedLifetime((bob, cid, sam)) {}
    }

    @Test("neither a socket.io client nor a viewer whose name can't be seen points or writes")
    func otherClients() throws {
        let server = try RunningServer()
        let (bob, cid) = (try Visitor(server, "secret", "Bob"), try Visitor(server, "secret", "Cid"))
        let blank = try Visitor(server, "secret", "\\u3164\\u200d")
        try blank.client.send(event: "__point", "{\"x\":0.5,\"y\":0.5,\"path\":[[0.5,0.5]]}")
        try blank.client.send(event: "__chat", "{\"text\":\"no\"}")
        #expect(try blank.next("_chat_refused")["reason"] as? String == "unnamed")
        let caller = try WebSocketClient.socketIO(server, version: 4)
        try caller.send(SocketIOText.join)
        #expect(try caller.nextEvent().first as? String == "joined")
        for packet in [
            "42[\"__point\",{\"x\":0.5,\"y\":0.5}]", "42[\"__chat\",{\"text\":\"no\"}]",
            "42[\"message\",\"desk,secret\",{\"eventName\":\"__chat\",\"data\":{\"text\":\"no\"}}]",
            "42[\"message\",\"desk,secret\",{\"type\":\"__point\",\"x\":0.5,\"y\":0.5}]", "421[\"__point\"]",
        ] {
            try caller.send(packet)
        }
        // A packet with a number is acknowledged.
        var answer = ""
        while !answer.hasPrefix("431") {
            if case .text(let text) = try caller.next() { answer = text }
        }
        #expect(try dots(bob) == 0)
        #expect(try texts(cid).isEmpty)
        #expect(server.media.state.withLock { $0.points.isEmpty })
        withExtendedLifetime((bob, cid, blank)) {}
    }
}
