import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Secrets that others are told")
struct ToldSecretsTests {
    private let publishing = FakePublishing()

    @Test("no message to others, list of rooms, event or log line has a token, a visit's secret or a session's URL")
    func none() throws {
        let events = RunningServer.Log()
        let heard = { @Sendable (line: String) in events.lines.withLock { $0.append(line) } }
        let server = try RunningServer.withTurns(publishing) {
            $0.rooms[0].access = RoomAccess(
                viewing: "token-to-view", presenting: "token-to-present", isPassword: { $0 == "pass-word" })
            $0.onEvent = { heard("\($0)") }
            $0.onChat = { heard("\($0)") }
        }
        let eve = try Visitor(server, "token-to-view,pass-word", "Eve")
        eve.client.hearsPeople = true
        let plain = try WebSocketClient(port: server.port)
        try plain.send(event: "__join", "{\"room\":\"desk,token-to-view,pass-word\"}")
        let ann = try Visitor(server, "token-to-present,pass-word", "Ann")
        let bob = try Visitor(server, "token-to-view,pass-word", "Bob")
        try server.allow(bob)
        let answer = try server.request(
            "POST", "/whip/desk/screen-b",
            [
                "Authorization": "Bearer token-to-view,pass-word", "Content-Type": "application/sdp",
                "X-Visit": bob.visit,
            ], body: EndpointClient.offer)
        let session = try #require(answer.headers["location"]?.split(separator: "/").last)
        for visitor in [ann, bob] {
            try visitor.client.send(event: "__chat", "{\"text\":\"Hello\"}")
            try visitor.client.send(event: "__point", "{\"x\":0.5,\"y\":0.5}")
            try visitor.client.send(event: "__meet", "{\"on\":true}")
            #expect(try visitor.next("_meeting")["on"] as? Bool == true)
        }
        var told: [String] = []
        // The list of people comes at last.
        while !told.contains(where: { $0.contains("\"_people\"") && $0.contains(ann.id) && $0.contains(bob.id) }) {
            if case .text(let text) = try eve.client.next() { told.append(text) }
        }
        try plain.send(event: "__clock", "{\"t\":1}")
        while told.last?.contains("\"_clock\"") != true {
            if case .text(let text) = try plain.next() { told.append(text) }
        }
        for path in ["/api/rooms", "/api/rooms/desk"] {
            told.append(try server.request("GET", path, ["Authorization": "Bearer master"]).text)
        }
        let secrets = [
            "token-to-view", "token-to-present", "pass-word", "master", ann.visit, bob.visit, String(session),
        ]
        let lines = told + events.lines.withLock { $0 } + server.log.lines.withLock { $0 }
        for secret in secrets {
            #expect(lines.filter { $0.contains(secret) } == [], "\(secret)")
        }
        #expect(lines.contains { $0.contains("Hello") } && lines.contains { $0.contains("asks to present") })
        withExtendedLifetime((eve, plain, ann, bob)) {}
    }
}
