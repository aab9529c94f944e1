import Rooms
import Testing

@Suite("A room's door")
struct RoomDoorTests {
    private func knock(_ id: String, _ name: String? = nil, from origin: String? = nil) -> RoomDoor.Knock {
        RoomDoor.Knock(MemberID(id), name: name, origin: origin)
    }

    @Test("newcomers enter, wait in a waiting room, and are refused while the room is locked")
    func answers() {
        var door = RoomDoor()
        var answer = door.knock(knock("a"))
        #expect(answer == .enters && door.closure == nil && door.waiting.isEmpty)
        door.isLocked = true
        answer = door.knock(knock("a"))
        #expect(answer == .isRefused(.locked) && door.closure == .locked)
        door = RoomDoor(hasWaitingRoom: true)
        answer = door.knock(knock("b", "\u{202E} Ben "))
        #expect(answer == .waits && door.closure == .waitingRoom && door.waiting.map(\.name) == ["Ben"])
        door.isLocked = true
        answer = door.knock(knock("c"))
        #expect(answer == .isRefused(.locked) && door.waiting.map(\.member.text) == ["b"])
    }

    @Test("who knocks again waits at the end of the list, once, and who has gone isn't in it")
    func again() {
        var door = RoomDoor(hasWaitingRoom: true)
        for (id, name) in [("a", "Ann"), ("b", "Ben"), ("a", "Anna")] { _ = door.knock(knock(id, name)) }
        #expect(door.waiting == [knock("b", "Ben"), knock("a", "Anna")])
        var isGone = door.remove(MemberID("b"))
        #expect(isGone && door.waiting.count == 1)
        isGone = door.remove(MemberID("b"))
        #expect(!isGone)
    }

    @Test("a bounded number waits, of which one origin has half")
    func limits() {
        var door = RoomDoor(hasWaitingRoom: true)
        for number in 0..<RoomDoor.waitingLimitPerOrigin { _ = door.knock(knock("a\(number)", from: "net")) }
        var answer = door.knock(knock("more", from: "net"))
        #expect(answer == .isRefused(.full))
        answer = door.knock(knock("a0", from: "net"))
        #expect(answer == .waits)
        for number in 0..<(RoomDoor.waitingLimit - RoomDoor.waitingLimitPerOrigin) {
            answer = door.knock(knock("b\(number)"))
            #expect(answer == .waits)
        }
        answer = door.knock(knock("last", from: "elsewhere"))
        #expect(answer == .isRefused(.full) && door.waiting.count == RoomDoor.waitingLimit)
    }
}
