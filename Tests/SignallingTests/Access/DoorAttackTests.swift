import TestSupport
import Testing

@testable import Signalling

@Suite("Attacks on rooms' doors")
struct DoorAttackTests {
    private let publishing = FakePublishing()

    @Test("only an owner of the room locks, admits and refuses: by page, SkyRTC, socket.io and /api")
    func attackers() throws {
        let server = try RunningServer.withTurns(publishing) {
            for index in $0.rooms.indices { $0.rooms[index].hasWaitingRoom = true }
        }
        let ann = try Visitor(server, "secret", "Ann")
        let bob = try Knocker.waiting(server, "Bob")
        let id = try #require(try ann.waitForDoor(["Bob"]).first)
        // A viewer that was let in, and has the turn.
        let eve = try Knocker.waiting(server, "Eve")
        let eveID = try #require(try ann.waitForDoor(["Bob", "Eve"]).last)
        try ann.door("admit", eveID)
        #expect(try eve.entered() == eveID)
        try eve.client.send(event: "__turn", "{\"action\":\"ask\"}")
        try ann.waitForTurns(["Eve asked"])
        try ann.send("allow", eveID)
        try ann.waitForTurns(["Eve granted"])
        // An owner of another room, and plain clients, one of which has the owners' token.
        let stranger = try Visitor(server, "secret", "Sam", room: "attic")
        let plain = try Knocker(server, "Pat", token: "secret", more: "")
        _ = try plain.entered()
        for client in [eve.client, stranger.client, plain.client, bob.client] {
            for action in ["lock", "unlock", "admit", "refuse", "open"] {
                for target in ["", ",\"socketId\":\"\(id)\"", ",\"socketId\":\"all\""] {
                    try client.send(event: "__door", "{\"action\":\"\(action)\"\(target)}")
                }
            }
        }
        let caller = try WebSocketClient.socketIO(server, version: 4)
        try caller.send("42[\"join\",\"desk,secret\"]")
        for action in ["lock", "admit"] { try caller.send("42[\"__door\",{\"action\":\"\(action)\"}]") }
        for token in ["audience", "secret", "wrong"] {
            for path in ["lock", "unlock", "waiting/admit", "waiting/\(id)/admit", "waiting/\(id)/refuse"] {
                #expect(try server.administer(path, token: token) == 401)
            }
        }
        // What they have sent has arrived.
        for client in [eve.client, stranger.client, plain.client] { try Knocker(client: client).waitForClock() }
        let room = try server.firstRoom()
        #expect(room.locked == false && room.waiting?.map(\.id) == [id])
        let attic = try server.request("GET", "/api/rooms/attic", ["Authorization": "Bearer master"])
        // Its own room is what the stranger may lock.
        #expect(attic.text.contains("\"locked\":false"), "it was unlocked last")
        // Neither the secret of another member's visit nor an identifier admits a client.
        for secret in [ann.id, eveID, id, ""] {
            let more = ",\"role\":\"viewer\",\"former\":\"\(secret)\",\"resume\":\"\(secret)\""
            let other = try Knocker(server, "Mal", more: more)
            _ = try other.client.next(event: "_waiting")
        }
        withExtendedLifetime((ann, bob, eve, stranger, plain, caller)) {}
    }

    @Test("a member's secret admits one client, and ends the member's own visit, so that nobody lets others in with it")
    func multiplying() throws {
        let server = try RunningServer.withTurns(publishing)
        let bob = try Visitor(server, "audience", "Bob")
        #expect(try server.administer("lock") == 204)
        let secret = ",\"former\":\"\(bob.visit)\""
        let eve = try Visitor(server, "audience", "Eve", secrets: secret)
        try bob.client.raw.waitForEnd()
        #expect(try server.firstRoom().members.map(\.name) == ["Eve"])
        #expect(try Knocker(server, "Mal", more: ",\"role\":\"viewer\"\(secret)").closeCode() == 4423)
        withExtendedLifetime(eve) {}
    }

    @Test("an owner whose turn was ended, or that joins again with the room token, no longer decides")
    func formerOwners() throws {
        let server = try RunningServer.withTurns(publishing)
        let ann = try Visitor(server, "secret", "Ann")
        let ben = try Visitor(server, "secret", "Ben")
        #expect(try server.present(ben) == 201)
        try ann.waitForTurns(["Ben owner"])
        try ann.send("end", ben.id)
        #expect(try ben.nextTurn() == "none")
        try ben.door("lock")
        #expect(try ben.hearsNoTurn())
        try ann.client.send(event: "__join", "{\"room\":\"desk,audience\",\"role\":\"viewer\",\"name\":\"Ann\"}")
        #expect(try ann.next("_peers")["turn"] as? String == "none")
        try ann.door("lock")
        #expect(try ann.hearsNoTurn())
        #expect(try server.firstRoom().locked == false)
    }

    @Test("paths that name no room, nobody or no decision are refused with a status")
    func paths() throws {
        let server = try RunningServer.withTurns(publishing) { $0.rooms[0].hasWaitingRoom = true }
        let master = ["Authorization": "Bearer master"]
        #expect(try server.request("POST", "/api/rooms/cellar/lock", master).status == 404)
        #expect(try server.administer("waiting/nobody/admit") == 409)
        #expect(try server.administer("waiting/nobody/allow") == 404)
        #expect(try server.administer("waiting/allow") == 404)
        #expect(try server.request("GET", "/api/rooms/desk/lock", master).headers["allow"] == "POST")
        let other = try server.request("GET", "/api/rooms/attic", master).text
        #expect(other.contains("\"locked\":false") && !other.contains("\"waiting\""))
    }
}
