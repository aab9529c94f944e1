import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Meeting and the roster")
struct MeetingTests {
    private func join(_ client: WebSocketClient, name: String? = nil, role: String? = "viewer") throws -> String {
        let parts = [role.map { ",\"role\":\"\($0)\"" }, name.map { ",\"name\":\"\($0)\"" }].compactMap { $0 }
        try client.send(event: "__join", "{\"room\":\"desk,secret\"\(parts.joined())}")
        let id = try #require(try client.next(event: "_peers")["you"] as? String)
        if role == "viewer" { _ = try client.next(event: "_state") }
        return id
    }

    @Test("two viewers meet, talk, and hear that the other has vanished")
    func meeting() throws {
        let server = try RunningServer()
        let ann = try WebSocketClient(port: server.port)
        let annID = try join(ann, name: "Ann <b>&\\\"")
        try ann.send(event: "__meet", "{\"on\":true}")
        let first = try ann.next(event: "_meeting")
        #expect(first["on"] as? Bool == true && (first["connections"] as? [Any])?.isEmpty == true)
        do {
            let ben = try WebSocketClient(port: server.port)
            let benID = try join(ben)
            try ben.send(event: "_meet", "{\"on\":true}")
            let met = try ben.next(event: "_meeting")["connections"] as? [[String: String]]
            #expect(met == [["socketId": annID, "name": "Ann <b>&\""]])
            let newcomer = try ann.next(event: "_new_peer")
            #expect(newcomer["socketId"] as? String == benID && newcomer["name"] == nil)
            try ben.send(offer: "o", to: annID)
            #expect(try ann.next(event: "_offer")["socketId"] as? String == benID)
            // It crosses that of the later one, which is what counts.
            try ann.send(offer: "crossing", to: benID)
            try ann.send(answer: "a", to: benID)
            #expect(try ben.next(event: "_answer")["socketId"] as? String == annID)
            // Meeting changes nothing about the session with the host.
            #expect(server.media.state.withLock { $0.closed }.isEmpty)
        }
        _ = try ann.next(event: "_remove_peer")
        try ann.send(event: "__meet", "{\"on\":false}")
        #expect(try ann.next(event: "_meeting")["on"] as? Bool == false)
    }

    @Test("viewers are told who is there, in one message for all that changed at once")
    func participantList() throws {
        let server = try RunningServer()
        let ann = try WebSocketClient(port: server.port)
        ann.hearsPeople = true
        let annID = try join(ann, name: "Ann")
        let alone = try ann.next(event: "_people")
        #expect(alone["count"] as? Int == 1)
        let clock = ContinuousClock()
        let start = clock.now
        let clients = try (0..<20).map { _ in try WebSocketClient(port: server.port) }
        for client in clients { _ = try join(client) }
        let first = try #require(clients.first)
        try first.send(event: "__meet", "{\"on\":true}")
        _ = try first.next(event: "_meeting")
        var people = try ann.next(event: "_people")
        var messages = 1
        func someMeet() -> Bool {
            (people["members"] as? [[String: Any]])?.contains { $0["meeting"] as? Bool == true } == true
        }
        while people["count"] as? Int != 21 || !someMeet(), messages < 21 {
            people = try ann.next(event: "_people")
            messages += 1
        }
        #expect(people["count"] as? Int == 21)
        // One a second at most, and not one for each of 21 changes.
        #expect(messages <= 3 + Int((clock.now - start) / .seconds(1)))
        let members = try #require(people["members"] as? [[String: Any]])
        #expect(members.count == 21)
        #expect(members.first?["meeting"] as? Bool == true && members.first?["name"] == nil)
        #expect(members[1]["socketId"] as? String == annID && members[1]["name"] as? String == "Ann")
        #expect(members[1]["meeting"] == nil)
    }

    @Test("a host hears who came and left, tells who is there, and can send somebody away")
    func participants() throws {
        let news = Mutex<[RoomNews]>([])
        let heard = { @Sendable (item: RoomNews) in news.withLock { $0.append(item) } }
        let server = try RunningServer { $0.onEvent = heard }
        let ann = try WebSocketClient(port: server.port)
        let annID = try join(ann, name: "Ann")
        try ann.send(offer: "o", to: "nobody")
        let (_, host) = try ann.joinAsViewer("desk,secret")
        try ann.send(offer: "o", to: host)
        _ = try ann.next(event: "_answer")
        let ben = try WebSocketClient(port: server.port)
        let benID = try join(ben, role: nil)
        let headers = ["Authorization": "Bearer secret", "Content-Type": "application/sdp"]
        #expect(try server.request("POST", "/whep/desk", headers, body: "v=0\r\n").status == 201)

        let reports = Mutex<[RoomsDocument.Room]?>(nil)
        server.server.describe { document in reports.withLock { $0 = document.rooms } }
        let rooms = try eventually("the report") { reports.withLock { $0 } }
        let room = try #require(rooms.first)
        #expect(rooms.count == 1 && room.name == "desk")
        #expect(room.tracks.map(\.name) == ["screen"] && room.tracks.map(\.state) == ["waiting"])
        #expect(room.members.map(\.kind) == ["viewer", "client", "player"])
        #expect(room.members.map(\.tracks) == [["screen"], [], ["screen"]])
        // Who joins again without its name has none any more.
        #expect(room.members.map(\.name) == [nil, nil, nil])
        #expect(room.members.allSatisfy { $0.address == "127.0.0.1" && $0.seconds >= 0 })

        let done = Mutex<[Bool]>([])
        for id in [benID, room.members[2].id, benID, "nobody"] {
            server.server.removeParticipant(id) { known in done.withLock { $0.append(known) } }
        }
        try eventually("the answers") { done.withLock { $0.count == 4 } }
        #expect(done.withLock { $0 } == [true, true, false, false])
        #expect((try ben.next(event: "_refused")["reason"] as? String)?.isEmpty == false)
        #expect(try ben.next() == .close(4410))
        try eventually("both to be gone") {
            server.server.audience(of: "desk") == RoomAudience(members: 1, players: 0)
        }
        let told = news.withLock { $0 }.map { "\($0.change) \($0.who.kind) \($0.who.name ?? "-")" }
        #expect(
            told == [
                "came viewer Ann", "left viewer Ann", "came viewer -", "came client -", "came player -",
                "left client -", "left player -",
            ])
        #expect(news.withLock { $0 }.first?.who.id == annID)
    }

    @Test("2,000 join and leave, and what is left is what was there before")
    func manyRounds() throws {
        let server = try RunningServer()
        let watcher = try WebSocketClient(port: server.port)
        _ = try join(watcher)
        for _ in 0..<200 {
            let client = try WebSocketClient(port: server.port)
            for _ in 0..<10 {
                let (_, host) = try client.joinAsViewer("desk,secret")
                try client.send(offer: "o", to: host)
                _ = try client.next(event: "_answer")
            }
        }
        try eventually("all to be gone") { server.server.audience(of: "desk") == RoomAudience(members: 1) }
        #expect(server.media.state.withLock { $0.offers.count == 2000 && $0.closed.count == 2000 })
    }
}
