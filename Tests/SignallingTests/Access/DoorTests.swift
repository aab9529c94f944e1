import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import Signalling

@Suite("Rooms that are locked, or have a waiting room")
struct DoorTests {
    private let publishing = FakePublishing()

    private func server(
        hasWaitingRoom: Bool = false, _ change: (inout SignallingConfiguration) -> Void = { _ in }
    ) throws -> RunningServer {
        try RunningServer.withTurns(publishing) {
            for index in $0.rooms.indices { $0.rooms[index].hasWaitingRoom = hasWaitingRoom }
            change(&$0)
        }
    }

    enum Way: CaseIterable {
        case page, api, program
    }

    /// Expects that nobody gets in who could not wait, without the presenters' token.
    private func expectClosed(_ server: borrowing RunningServer) throws {
        let bearer = ["Authorization": "Bearer audience"]
        let refused = try server.request("GET", "/whep/desk", bearer)
        #expect(refused.status == 423 && refused.headers["retry-after"] == "10" && refused.text.contains("room"))
        for path in ["/snapshot.png", "/snapshot.jpg?room=desk"] {
            #expect(try server.request("GET", path, bearer).status == 423)
        }
        let link = "http://127.0.0.1:\(server.port)/#desk,audience"
        let error = #expect(throws: SnapshotClientError.self) {
            try SnapshotClient().fetchSnapshot(link: link, format: .png)
        }
        #expect(error?.description.contains("lets only presenters in now: ") == true, "\(error as Any)")
        for (token, status) in [("audience", 423), ("wrong", 401), ("secret", 201)] {
            #expect(try server.play(token) == status)
        }
        let caller = try WebSocketClient.socketIO(server, version: 4)
        try caller.send("42[\"join\",\"desk,audience\"]")
        #expect(try caller.nextEvent().first as? String == "full")
        // It may try again.
        try caller.send("42[\"join\",\"desk,secret\"]")
        #expect(try caller.nextEvent().first as? String == "joined")
    }

    @Test(
        "a locked room lets no newcomer in, those within stay, and unlocked it lets newcomers in again",
        arguments: Way.allCases)
    func locking(way: Way) throws {
        let server = try server()
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Visitor(server, "audience", "Bob")
        let location = try #require(
            try server.request(
                "POST", "/whep/desk", ["Authorization": "Bearer audience", "Content-Type": "application/sdp"],
                body: EndpointClient.offer
            ).headers["location"])
        func lock(_ isLocked: Bool) throws {
            switch way {
            case .page: try ann.door(isLocked ? "lock" : "unlock")
            case .api: #expect(try server.administer(isLocked ? "lock" : "unlock") == 204)
            case .program: server.server.lock(isLocked, room: "desk")
            }
            try ann.waitForDoor(isLocked: isLocked)
            #expect(server.server.door(of: "desk").isLocked == isLocked)
            #expect(try server.firstRoom().locked == isLocked)
        }
        try ann.waitForDoor()
        try lock(true)
        for more in [",\"role\":\"viewer\"", ""] {
            let eve = try Knocker(server, "Eve", more: more)
            let refusal = try eve.client.next(event: "_refused")
            #expect(refusal["reason"] as? String == "the room is locked" && refusal["code"] as? Int == 4423)
            #expect(try eve.closeCode() == 4423)
        }
        #expect(try Knocker(server, "Eve", token: "wrong").closeCode() == 4403)
        try expectClosed(server)
        // Members, and players with a session, go on. Other rooms are open.
        #expect(try bob.hearsNoTurn())
        #expect(try server.request("GET", location, ["Authorization": "Bearer audience"]).status == 204)
        #expect(try Knocker(server, "Cid", room: "attic").entered() != nil)
        // Who is within may join again over the same connection.
        try bob.client.send(event: "__join", "{\"room\":\"desk,audience\",\"role\":\"viewer\",\"name\":\"Bo\"}")
        #expect(try bob.next("_peers")["you"] as? String == bob.id)
        let ben = try Visitor(server, "secret", "Ben")
        try ben.waitForDoor(isLocked: true)
        try lock(false)
        #expect(try Knocker(server, "Eve").entered() != nil)
        #expect(try server.play("audience") == 201)
        withExtendedLifetime((ann, bob, ben)) {}
    }

    @Test("a member of a locked room that has the turn to present publishes with its own token")
    func presenting() throws {
        let server = try server()
        let bob = try Visitor(server, "audience", "Bob")
        try server.allow(bob)
        #expect(try server.administer("lock") == 204)
        #expect(try server.present(bob) == 201)
        #expect(try server.play("audience") == 423)
        withExtendedLifetime(bob) {}
    }

    @Test(
        "a member whose connection broke off comes back into a closed room, and so does one that left, each once",
        arguments: ["resume", "former"], [true, false])
    func comingBack(field: String, isLocked: Bool) throws {
        let server = try server(hasWaitingRoom: !isLocked)
        let ann = try Visitor(server, "secret", "Ann")
        try ann.door(isLocked ? "lock" : "unlock")
        let secrets = ",\"\(field)\":\"\(ann.visit)\""
        if field == "resume" { ann.client.raw.endSending() } else { try Knocker(client: ann.client).leave() }
        try ann.client.raw.waitForEnd()
        // With the presenters' token it would get in anyway.
        let again = try Visitor(server, "audience", "Anna", secrets: secrets)
        #expect(again.id != ann.id)
        try Knocker(client: again.client).leave()
        let eve = try Knocker(server, "Eve", more: ",\"role\":\"viewer\"\(secrets)")
        if isLocked { #expect(try eve.closeCode() == 4423) } else { _ = try eve.client.next(event: "_waiting") }
    }

    @Test(
        "a secret admits neither to another room, nor later, nor who was removed",
        arguments: ["room", "time", "removal"])
    func notComingBack(reason: String) throws {
        let server = try server { if reason == "time" { $0.limits.returnTime = .zero } }
        let bob = try Visitor(server, "audience", "Bob", room: reason == "room" ? "attic" : "desk")
        #expect(try server.administer("lock") == 204)
        switch reason {
        case "removal": server.server.removeParticipant(bob.id)
        default: try Knocker(client: bob.client).leave()
        }
        if reason == "removal" { #expect(try Knocker(client: bob.client).closeCode() == 4410) }
        for field in ["resume", "former"] {
            let more = ",\"role\":\"viewer\",\"\(field)\":\"\(bob.visit)\""
            let code = try Knocker(server, "Bob", more: more).closeCode()
            // Its page is told again that it was removed while it hasn't read that.
            #expect(code == 4423 || reason == "removal" && code == 4410)
        }
    }

    @Test("who waits is seen by owners and over /api, and enters or is refused as they decide", arguments: Way.allCases)
    func waiting(way: Way) throws {
        let server = try server(hasWaitingRoom: true)
        let ann = try Visitor(server, "secret", "Ann")
        try ann.waitForDoor([])
        let name = "<img src=x>"
        for decision in EntryDecision.allCases {
            let bob = try Knocker.waiting(server, name)
            // Nothing of it is carried out meanwhile.
            try bob.client.send(event: "__meet", "{\"on\":true}")
            try bob.client.send(event: "__offer", "{\"sdp\":{\"type\":\"offer\",\"sdp\":\"v=0\"}}")
            let id = try #require(try ann.waitForDoor([name]).first)
            let room = try server.firstRoom()
            #expect(room.waiting?.map(\.id) == [id] && room.waiting?.map(\.name) == [name])
            #expect(room.members.map(\.name) == ["Ann"])
            #expect(server.server.door(of: "desk").waiting.map(\.name) == [name])
            switch way {
            case .page: try ann.door(decision.rawValue, id)
            case .api: #expect(try server.administer("waiting/\(id)/\(decision.rawValue)") == 204)
            case .program: server.server.decide(decision, entryOf: id)
            }
            switch decision {
            case .admit: #expect(try bob.entered() == id)
            case .refuse: #expect(try bob.closeCode() == 4424)
            }
            try ann.waitForDoor([])
            #expect(try server.administer("waiting/\(id)/\(decision.rawValue)") == 409)
            if decision == .admit { try bob.leave() }
        }
        #expect(try server.firstRoom().waiting?.isEmpty == true)
        withExtendedLifetime(ann) {}
    }

    @Test("all who wait are let in at once, also while the room is locked, and nobody else")
    func all() throws {
        let server = try server(hasWaitingRoom: true)
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Knocker.waiting(server, "Bob")
        let cid = try Knocker(server, "Cid", more: "")
        _ = try cid.client.next(event: "_waiting")
        let stranger = try Knocker(server, "Sam", room: "attic")
        _ = try stranger.client.next(event: "_waiting")
        try ann.waitForDoor(["Bob", "Cid"])
        try ann.door("lock")
        try ann.waitForDoor(isLocked: true, ["Bob", "Cid"])
        #expect(try Knocker(server, "Eve").closeCode() == 4423)
        try ann.door("admit", "all")
        #expect(try bob.entered() != nil)
        #expect(try cid.entered() != nil)
        try ann.waitForDoor(isLocked: true, [])
        // Nobody is left for it.
        #expect(try server.administer("waiting/admit") == 204)
        let answer = try server.request("GET", "/api/rooms/attic", ["Authorization": "Bearer master"])
        #expect(answer.text.contains("\"name\":\"Sam\""))
        withExtendedLifetime((ann, stranger)) {}
    }

    @Test("players, callers and snapshots can't wait: they need the presenters' token")
    func players() throws {
        try expectClosed(try server(hasWaitingRoom: true))
    }

    @Test("who leaves, or asks for another room, no longer waits, and a bounded number does")
    func leaving() throws {
        let server = try server(hasWaitingRoom: true)
        let ann = try Visitor(server, "secret", "Ann")
        var crowd: [Knocker] = []
        for number in 0..<50 { crowd.append(try Knocker.waiting(server, "Eve\(number)")) }
        #expect(try Knocker(server, "Bob").closeCode() == 4503)
        try crowd[0].leave()
        try crowd[1].client.send(event: "__join", "{\"room\":\"attic,audience\",\"role\":\"viewer\"}")
        _ = try crowd[1].client.next(event: "_waiting")
        try ann.waitForDoor((2..<50).map { "Eve\($0)" })
        let bob = try Knocker.waiting(server, "Bob")
        try ann.waitForDoor((2..<50).map { "Eve\($0)" } + ["Bob"])
        withExtendedLifetime((ann, bob, crowd)) {}
    }

    @Test("a program hears of each who waits, and those who wait in a room whose links expire are told")
    func expiry() throws {
        let time = Mutex(0)
        let news = Mutex<[RoomNews]>([])
        let heard = { @Sendable (item: RoomNews) in news.withLock { $0.append(item) } }
        let server = try server(hasWaitingRoom: true) { configuration in
            for index in configuration.rooms.indices { configuration.rooms[index].access.expiry = 10 }
            configuration.lifetimeClock = { time.withLock { $0 } }
            configuration.onEvent = heard
        }
        let bob = try Knocker.waiting(server, "Bob")
        try eventually("the news", holds: { news.withLock { $0.map(\.change) } == [.knocked] })
        #expect(news.withLock { $0.first?.who.name } == "Bob")
        time.withLock { $0 = 10 }
        #expect(try bob.closeCode() == 4411)
    }

    @Test("people are meant by their whole name or identifier, the identifier first")
    func calling() {
        func waiting(_ id: String, _ name: String?) -> RoomsDocument.Waiting {
            RoomsDocument.Waiting(id: id, name: name, address: "::1", seconds: 1)
        }
        var document = RoomsDocument(rooms: [])
        document.rooms = [
            RoomsDocument.Room(
                name: "a", tracks: [], members: [], waiting: [waiting("ab12", "Ann"), waiting("cd34", "ab12")]),
            RoomsDocument.Room(name: "b", tracks: [], members: [], waiting: [waiting("ef56", "Ann")]),
            RoomsDocument.Room(name: "c", tracks: [], members: []),
        ]
        func called(_ who: String) -> [String] { document.waiting(called: who).map(\.client.id) }
        #expect(called("ab12") == ["ab12"] && called("Ann") == ["ab12", "ef56"])
        for who in ["ann", "An", "ab", "AB12", "", "Ann "] { #expect(called(who).isEmpty) }
    }
}
