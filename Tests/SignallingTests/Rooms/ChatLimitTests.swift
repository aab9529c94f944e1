import TestSupport
import Testing

@testable import Signalling

@Suite("Who has no part in the chat, and what it forgets")
struct ChatLimitTests {
    private let publishing = FakePublishing()

    @Test("a client that waits to be let in writes, reads and draws nothing, and is told nothing of that")
    func waiting() throws {
        let server = try RunningServer.withTurns(publishing) {
            for index in $0.rooms.indices { $0.rooms[index].hasWaitingRoom = true }
        }
        let ann = try Visitor(server, "secret", "Ann")
        let eve = try Knocker.waiting(server, "Eve")
        let id = try #require(try ann.waitForDoor(["Eve"]).first)
        let before = try server.ignoredMessages()
        try eve.client.send(event: "__chat", "{\"text\":\"no\"}")
        try eve.client.send(event: "__chat", "{\"after\":0}")
        try eve.client.send(event: "__point", "{\"x\":0.5,\"y\":0.5,\"path\":[[0.5,0.5]]}")
        try eventually("what Eve has sent", holds: { try server.ignoredMessages() == before + 3 })
        try ann.client.send(event: "__chat", "{\"text\":\"yes\"}")
        #expect(try ann.next("_chat")["last"] as? Int == 1)
        try ann.client.send(event: "__clock", "{\"t\":1}")
        #expect(try ann.heardBeforeClock("_point").isEmpty)
        try ann.door("admit", id)
        var text = ""
        while !text.contains("\"_peers\"") {
            if case .text(let next) = try eve.client.next() { text = next }
            #expect(!text.contains("\"_chat") && !text.contains("\"_point\""), "\(text)")
        }
        withExtendedLifetime((ann, eve)) {}
        #expect(server.server.droppedChatMessages == 0)
    }

    @Test("a viewer may ask for earlier messages five times at once, and then once per second")
    func requests() throws {
        let server = try RunningServer()
        let ann = try Visitor(server, "secret", "Ann")
        let began = ContinuousClock.now
        for _ in 1...40 { try ann.client.send(event: "__chat", "{\"after\":0}") }
        try ann.client.send(event: "__clock", "{\"t\":1}")
        _ = try ann.heardBeforeClock("_chat")
        let ignored = try server.ignoredMessages()
        let seconds = began.duration(to: .now) / .seconds(1)
        #expect(ignored <= 35 && Double(40 - ignored) <= 6 + seconds, "\(ignored) in \(seconds) s")
        #expect(server.server.droppedChatMessages == 0)
    }

    @Test("switched off and on again at once, the chat has forgotten all, and pages are told of both")
    func offAndOn() throws {
        let server = try RunningServer()
        let ann = try Visitor(server, "secret", "Ann")
        try ann.client.send(event: "__chat", "{\"text\":\"one\"}")
        #expect(try ann.next("_chat")["last"] as? Int == 1)
        server.server.allowChat(false)
        server.server.allowChat(true)
        #expect(try ann.next("_chat").isEmpty)
        let data = try ann.next("_chat")
        #expect(data["last"] as? Int == 1 && data["kept"] as? Int == 0)
        #expect(server.server.allowsChat)
    }
}
