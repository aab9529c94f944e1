import Foundation
import MediaTypes
import Rooms
import Synchronization
import TestSupport
import Testing

@testable import Signalling

extension Visitor {
    /// Writes a message; `number` is the page's own.
    fileprivate func write(_ text: String, number: Int? = nil) throws {
        let json = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        try client.send(event: "__chat", "{\"text\":\(json)\(number.map { ",\"number\":\($0)" } ?? "")}")
    }

    /// Asks for the messages after the one with this number.
    fileprivate func ask(after number: Int) throws { try client.send(event: "__chat", "{\"after\":\(number)}") }

    /// Waits for messages until one with this text comes. Returns all of them.
    @discardableResult
    fileprivate func hear(_ text: String) throws -> [[String: Any]] {
        var messages: [[String: Any]] = []
        while !messages.contains(where: { $0["text"] as? String == text }) {
            messages += try next("_chat")["messages"] as? [[String: Any]] ?? []
        }
        return messages
    }

    /// Waits for the answer to a message that isn't passed on.
    fileprivate func refusal() throws -> String {
        let data = try next("_chat_refused")
        return "\(data["reason"] as? String ?? "") \(data["number"] as? Int ?? -1)"
    }
}

/// The numbers of messages.
private func numbers(_ messages: [[String: Any]]) -> [Int] { messages.compactMap { $0["number"] as? Int } }

@Suite("The chat over WebSockets")
struct ChatTests {
    @Test("a message reaches all viewers of the room and the host's programs, with name and time, and no other client")
    func relayed() throws {
        let news = Mutex<[ChatNews]>([])
        let heard = { @Sendable (item: ChatNews) in news.withLock { $0.append(item) } }
        let server = try RunningServer {
            $0.rooms.append(RoomConfiguration(name: "attic", token: "secret"))
            $0.onChat = heard
        }
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        let (guest, stranger) = (try Visitor(server, "secret", ""), try Visitor(server, "secret", "Sue", room: "attic"))
        let plain = try WebSocketClient(port: server.port)
        try plain.send(event: "__join", "{\"room\":\"desk,secret\"}")
        #expect(try plain.next(event: "_peers")["chat"] == nil)
        #expect(ann.chat == ChatSummary(last: 0, kept: 0))
        let before = Date().timeIntervalSince1970
        try ann.write("  Hello,\nBob \u{202E}\u{7}")
        for visitor in [ann, bob, guest] {
            let message = try #require(try visitor.hear("Hello,\nBob").first)
            #expect(message["number"] as? Int == 1 && message["name"] as? String == "Ann")
            #expect(message["socketId"] as? String == ann.id)
            let time = try #require(message["time"] as? Double) / 1000
            #expect(time > before - 1 && time < before + 60)
        }
        try bob.write("Hi")
        for visitor in [ann, bob, guest] { #expect(try numbers(visitor.hear("Hi")) == [2]) }
        for client in [stranger.client, plain] {
            try client.send(event: "__clock", "{\"t\":1}")
        }
        #expect(try plain.next(event: "_clock")["t"] as? Int == 1)
        #expect(try stranger.heardBeforeClock("_chat").isEmpty)
        #expect(
            news.withLock { $0 } == [
                ChatNews(room: "desk", id: ann.id, name: "Ann", text: "Hello,\nBob"),
                ChatNews(room: "desk", id: bob.id, name: "Bob", text: "Hi"),
            ])
        #expect(server.log.lines.withLock { $0.filter { $0.contains("Hello") } } == [])
        withExtendedLifetime((ann, bob, guest, stranger)) {}
    }

    @Test("a newcomer is told how many messages there are, and gets them when it asks")
    func history() throws {
        let server = try RunningServer()
        let ann = try Visitor(server, "secret", "Ann")
        for text in ["one", "two", "three"] { try ann.write(text) }
        try ann.hear("three")
        let late = try Visitor(server, "secret", "")
        #expect(late.chat == ChatSummary(last: 3, kept: 3))
        try late.client.send(event: "__clock", "{\"t\":1}")
        #expect(try late.heardBeforeClock("_chat").isEmpty)
        try late.ask(after: 0)
        #expect(try late.hear("three").map { $0["text"] as? String } == ["one", "two", "three"])
        try late.ask(after: 2)
        #expect(try numbers(late.hear("three")) == [3])
        // A number of another host, or none at all.
        for number in [7, -5] { try late.ask(after: number) }
        #expect(try numbers(late.hear("three")) == [1, 2, 3])
        withExtendedLifetime(ann) {}
        #expect(server.server.allowsChat)
    }

    @Test("a viewer whose visit goes on by another WebSocket gets what it has missed")
    func resumed() throws {
        let server = try RunningServer()
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        try bob.write("one")
        try ann.hear("one")
        // These reach the WebSocket that is dead for Ann's page.
        try bob.write("two")
        try bob.hear("two")
        let again = try Visitor(server, "secret", "Ann", secrets: ",\"resume\":\"\(ann.visit)\"")
        #expect(again.id == ann.id && again.chat == ChatSummary(last: 2, kept: 2))
        try again.ask(after: 1)
        #expect(try numbers(again.hear("two")) == [2])
        try bob.write("three")
        #expect(try numbers(again.hear("three")) == [3])
        try again.write("four")
        #expect(try bob.hear("four").last?["socketId"] as? String == ann.id)
        withExtendedLifetime((ann, again)) {}
    }

    @Test("markup in a name and a text is passed on as it is")
    func markup() throws {
        let server = try RunningServer()
        let eve = try Visitor(server, "secret", "<img src=x onerror=alert(1)>\\u202e")
        let bob = try Visitor(server, "secret", "Bob")
        let text = "<script>alert(\"1\")</script>\\ \u{0}</script> {\"eventName\":\"_refused\"}"
        try eve.write(text)
        let message = try bob.hear(text.replacing("\u{0}", with: "")).last
        #expect(message?["name"] as? String == "<img src=x onerror=alert(1)>")
        withExtendedLifetime(eve) {}
    }

    @Test("a viewer without a name and one with a long text are told why, and a plain client and no text do nothing")
    func refused() throws {
        let server = try RunningServer()
        let (guest, bob) = (try Visitor(server, "secret", ""), try Visitor(server, "secret", "Bob"))
        try guest.write("no", number: 7)
        #expect(try guest.refusal() == "unnamed 7")
        try bob.write(String(repeating: "x", count: 501), number: 8)
        #expect(try bob.refusal() == "length 8")
        try bob.write(" \n\u{200B} ")
        for data in ["{}", "[]", "{\"text\":7}", "{\"text\":null}", "{\"after\":true}", "null"] {
            try bob.client.send(event: "__chat", data)
        }
        let plain = try WebSocketClient(port: server.port)
        try plain.send(event: "__join", "{\"room\":\"desk,secret\",\"name\":\"Pat\"}")
        _ = try plain.next(event: "_peers")
        try plain.send(event: "__chat", "{\"text\":\"no\"}")
        try plain.send(event: "__clock", "{\"t\":1}")
        _ = try plain.next(event: "_clock")
        try bob.write(String(repeating: "y", count: 500))
        #expect(try numbers(guest.hear(String(repeating: "y", count: 500))) == [1])
        #expect(try server.ignoredMessages() == 10)
        #expect(server.server.droppedChatMessages == 0)
    }

    @Test("of 60 messages in a burst few are passed on, the rest is answered and counted, and nobody is disconnected")
    func burst() throws {
        let server = try RunningServer()
        let (ann, eve) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Eve"))
        let began = ContinuousClock.now
        for number in 1...60 { try eve.write("\(number)", number: number) }
        try eve.client.send(event: "__clock", "{\"t\":1}")
        let refusals = try eve.heardBeforeClock("_chat_refused")
        let seconds = began.duration(to: .now) / .seconds(1)
        #expect(refusals.allSatisfy { $0["reason"] as? String == "rate" && ($0["number"] as? Int ?? 0) > 5 })
        #expect(refusals.count <= 55 && Double(60 - refusals.count) <= 6 + seconds, "\(refusals.count) in \(seconds) s")
        #expect(server.server.droppedChatMessages == refusals.count)
        #expect(try server.ignoredMessages() == 0)
        try ann.write("Stop it")
        try eve.hear("Stop it")
        // After a pause, which depends on the rate only, Eve is heard again.
        var triedAt: ContinuousClock.Instant?
        try eventually(
            "another message of Eve",
            holds: {
                // All messages of a client have a limit.
                if let triedAt, triedAt.duration(to: .now) < .milliseconds(250) { return false }
                triedAt = .now
                try eve.write("Sorry")
                try ann.client.send(event: "__clock", "{\"t\":1}")
                return try ann.heardBeforeClock("_chat").contains { data in
                    (data["messages"] as? [[String: Any]])?.contains { $0["text"] as? String == "Sorry" } == true
                }
            })
    }

    @Test("all viewers of a room together are limited as well, and those of another room aren't")
    func crowd() throws {
        let server = try RunningServer {
            $0.rooms.append(RoomConfiguration(name: "attic", token: "secret"))
        }
        var crowd: [Visitor] = []
        for number in 1...20 { crowd.append(try Visitor(server, "secret", "Nr. \(number)")) }
        let began = ContinuousClock.now
        for visitor in crowd { for number in 1...5 { try visitor.write("\(number)") } }
        // Each of them is behind all that its visitor has written.
        var most = 0
        for visitor in crowd {
            try visitor.client.send(event: "__clock", "{\"t\":1}")
            most = max(most, try visitor.heardBeforeClock("_chat").count)
        }
        let seconds = began.duration(to: .now) / .seconds(1)
        #expect(Double(most) <= 1 + 10 * seconds, "\(most) in \(seconds) s")
        let passed = 100 - server.server.droppedChatMessages
        #expect(passed >= 40 && Double(passed) <= 41 + 20 * seconds, "\(passed) in \(seconds) s")
        let sue = try Visitor(server, "secret", "Sue", room: "attic")
        try sue.write("Quiet here")
        try sue.hear("Quiet here")
    }

    @Test("10 MB of chat from one viewer reach nobody, and others write as before")
    func flood() throws {
        let server = try RunningServer()
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        let eve = try Visitor(server, "secret", "Eve")
        let text = String(repeating: "x", count: 64_000)
        let frame = WebSocketClient.frame(1, Array("{\"eventName\":\"__chat\",\"data\":{\"text\":\"\(text)\"}}".utf8))
        for _ in 1...160 {
            guard try eve.client.raw.send(frame) else { break }
        }
        try ann.write("Still here")
        #expect(try numbers(bob.hear("Still here")) == [1])
        let late = try Visitor(server, "secret", "Cid")
        #expect(late.chat == ChatSummary(last: 1, kept: 1))
        withExtendedLifetime(eve) {}
    }

    @Test("a page that reads nothing gets all that it has missed in one message, and the others each one meanwhile")
    func slowPage() throws {
        let server = try RunningServer { $0.limits.unread = 64 << 20 }
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        let slow = try Visitor(server, "secret", "Cid")
        // More than the sockets take: 15 MB, told to pages that read as well.
        let text = String(repeating: "x", count: 100_000)
        for number in 1...150 {
            server.server.announce(.gone(since: .zero, reason: "\(number) \(text)"), room: "desk")
            for page in [ann, bob] {
                var message = ""
                while !message.hasPrefix("\(number) ") { message = try page.next("_state")["message"] as? String ?? "" }
            }
        }
        for text in ["one", "two", "three"] {
            try ann.write(text)
            #expect(try bob.hear(text).count == 1)
            try ann.hear(text)
        }
        let messages = try #require(try slow.next("_chat")["messages"] as? [[String: Any]])
        #expect(numbers(messages) == [1, 2, 3])
    }

    @Test("switched off, the chat forgets all and refuses messages, and pages are told; then it begins again")
    func off() throws {
        let server = try RunningServer()
        let (ann, bob) = (try Visitor(server, "secret", "Ann"), try Visitor(server, "secret", "Bob"))
        try ann.write("one")
        for page in [ann, bob] { try page.hear("one") }
        server.server.allowChat(false)
        #expect(!server.server.allowsChat)
        for page in [ann, bob] { #expect(try page.next("_chat").isEmpty) }
        let late = try Visitor(server, "secret", "Cid")
        #expect(late.chat == nil)
        try ann.write("two")
        #expect(try ann.next("_chat").isEmpty)
        try bob.ask(after: 0)
        #expect(try bob.next("_chat").isEmpty)
        // The same again is no news.
        server.server.allowChat(false)
        server.server.allowChat(true)
        for page in [ann, bob, late] {
            let data = try page.next("_chat")
            #expect(data["last"] as? Int == 1 && data["kept"] as? Int == 0 && data["messages"] == nil)
        }
        try ann.write("three")
        for page in [ann, bob, late] { #expect(try numbers(page.hear("three")) == [2]) }
        try bob.ask(after: 0)
        #expect(try numbers(bob.hear("three")) == [2])
    }

    @Test("neither a viewer's token nor the presenters' one switches the chat over /api")
    func tokens() throws {
        let commands = CommandAnswers()
        commands.use { command in
            Issue.record("it was carried out: \(command)")
            return .done("")
        }
        let server = try RunningServer {
            $0.rooms[0].access = RoomAccess(viewing: "audience", presenting: "secret")
            $0.administration = Administration(token: "master", allowsNetwork: false)
            $0.commands = commands
        }
        for token in ["audience", "secret", ""] {
            for state in ["on", "off"] {
                let answer = try server.request("POST", "/api/chat-\(state)", ["Authorization": "Bearer \(token)"])
                #expect(answer.status == 401)
            }
        }
    }
}
