import Rooms
import SocketIORooms
import Testing

@Suite("A room of two clients")
struct CallRoomTests {
    private let one = MemberID("one")
    private let two = MemberID("two")
    private let three = MemberID("three")

    private func notice(_ notice: PairNotice, about member: MemberID, to receiver: MemberID) -> PairAction {
        .send(.notice(notice, about: member), to: receiver)
    }

    /// A room with both.
    private func call() -> CallRoom {
        var room = CallRoom()
        _ = room.join(one)
        _ = room.join(two)
        return room
    }

    @Test("each is told that it has joined, and the first that the second has come")
    func joining() {
        var room = CallRoom()
        #expect(room.isEmpty)
        #expect(room.join(one) == [.joined(one), notice(.joined, about: one, to: one)])
        #expect(
            room.join(two) == [
                .joined(two), notice(.joined, about: two, to: two), notice(.otherJoined, about: two, to: one),
            ])
        #expect(!room.isEmpty)
    }

    @Test("what one says goes to the other, and to nobody if it is alone or isn't there")
    func talking() {
        var room = CallRoom()
        #expect(room.message("1", from: one).isEmpty)
        _ = room.join(one)
        #expect(room.message("1", from: one).isEmpty)
        _ = room.join(two)
        #expect(room.message("1", from: one) == [.send(.relayed(json: "1"), to: two)])
        #expect(room.message("{}", from: two) == [.send(.relayed(json: "{}"), to: one)])
        #expect(room.message("1", from: three).isEmpty)
    }

    @Test("a third is one too many, until one of the two has gone")
    func full() {
        var room = call()
        #expect(room.join(three) == [notice(.full, about: three, to: three)])
        #expect(room.lost(three).isEmpty)
        #expect(room.lost(one) == [notice(.bye, about: one, to: two), .left(one)])
        #expect(
            room.join(three) == [
                .joined(three), notice(.joined, about: three, to: three), notice(.otherJoined, about: three, to: two),
            ])
    }

    @Test("who leaves is told so after the other, and an empty room is empty")
    func leaving() {
        var room = call()
        #expect(
            room.leave(two) == [
                notice(.bye, about: two, to: one), .left(two), notice(.left, about: two, to: two), .disconnect(two),
            ])
        #expect(room.leave(one) == [.left(one), notice(.left, about: one, to: one), .disconnect(one)])
        #expect(room.isEmpty)
    }

    @Test("one that joins again starts over, as the second")
    func again() {
        var room = call()
        #expect(
            room.join(one) == [
                notice(.bye, about: one, to: two), .left(one), .joined(one), notice(.joined, about: one, to: one),
                notice(.otherJoined, about: one, to: two),
            ])
    }
}
