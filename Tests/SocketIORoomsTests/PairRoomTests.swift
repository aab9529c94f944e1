import Rooms
import SocketIORooms
import TestSupport
import Testing

@Suite("A room of two")
struct PairRoomTests {
    private let host = MemberID("host")
    private let one = MemberID("one")
    private let two = MemberID("two")
    private let candidate = ICECandidate(candidate: "candidate:1", mediaIndex: 0, mediaTag: "0")

    private func notice(_ notice: PairNotice, about member: MemberID, to receiver: MemberID) -> PairAction {
        .send(.notice(notice, about: member), to: receiver)
    }

    /// A room where `one` is in and was made an offer.
    private func called() -> PairRoom {
        var room = PairRoom(host: host)
        _ = room.handle(.join(one))
        _ = room.handle(.offered(one, sdp: "o"))
        return room
    }

    @Test("the host is there first: it hears of the newcomer and offers, and the newcomer answers")
    func call() {
        var room = PairRoom(host: host)
        #expect(room.handle(.join(one)) == [.openSession(one)])
        #expect(room.hostState == .connected)
        #expect(
            room.handle(.offered(one, sdp: "o")) == [
                .joined(one), notice(.joined, about: one, to: one), .send(.offer(sdp: "o"), to: one),
            ])
        #expect(room.clientState == .joined)
        #expect(room.handle(.candidate(one, candidate)) == [.addCandidate(one, candidate)])
        #expect(room.handle(.answer(one, sdp: "a")) == [.acceptAnswer(one, sdp: "a")])
        #expect(room.handle(.candidate(one, candidate)) == [.addCandidate(one, candidate)])
        // Once only.
        #expect(room.handle(.answer(one, sdp: "a")).isEmpty)
        #expect(room.ignoredEvents == 1)
    }

    @Test("a third is one too many until one of the two has gone")
    func full() {
        var room = called()
        #expect(room.handle(.join(two)) == [notice(.full, about: two, to: two)])
        #expect(room.client == one)
        #expect(room.handle(.lost(one)) == [.closeSession(one), .left(one)])
        #expect(room.isEmpty)
        #expect(room.hostState == .unbound)
        #expect(room.handle(.join(two)) == [.openSession(two)])
        #expect(room.hostState == .connected)
    }

    @Test("who leaves hears that it has left, and is disconnected")
    func leave() {
        var room = called()
        #expect(
            room.handle(.leave(one)) == [
                .closeSession(one), .left(one), notice(.left, about: one, to: one), .disconnect(one),
            ])
        #expect(room.clientState == .left)
        #expect(room.handle(.leave(two)) == [notice(.left, about: two, to: two), .disconnect(two)])
    }

    @Test("who isn't one of the two is not listened to")
    func strangers() {
        var room = called()
        for event in [
            PairEvent.offer(two, sdp: "o"), .answer(two, sdp: "a"), .candidate(two, candidate), .lost(two),
            .refused(two),
            .sessionEnded(two), .offered(two, sdp: "o"), .notOffered(two, isFull: true), .answered(two, sdp: "a"),
        ] {
            #expect(room.handle(event).isEmpty)
        }
        #expect(room.client == one)
        var empty = PairRoom(host: host)
        #expect(empty.handle(.candidate(one, candidate)).isEmpty)
        #expect(empty.handle(.answer(one, sdp: "a")).isEmpty)
    }

    @Test("who joins again starts again")
    func again() {
        var room = called()
        #expect(room.handle(.join(one)) == [.closeSession(one), .left(one), .openSession(one)])
        #expect(room.client == one)
    }

    @Test("a host that serves as many as it can is a full room")
    func crowded() {
        var room = PairRoom(host: host)
        _ = room.handle(.join(one))
        #expect(room.handle(.notOffered(one, isFull: true)) == [notice(.full, about: one, to: one)])
        #expect(room.isEmpty)
    }

    @Test("a host that can't offer comes in after the client, which offers then")
    func clientOffers() {
        var room = PairRoom(host: host)
        _ = room.handle(.join(one))
        #expect(
            room.handle(.notOffered(one, isFull: false)) == [
                .joined(one), notice(.joined, about: one, to: one), notice(.otherJoined, about: host, to: one),
            ])
        #expect(room.clientState == .connected)
        #expect(room.handle(.offer(one, sdp: "o")) == [.answerOffer(one, sdp: "o")])
        #expect(room.handle(.answered(one, sdp: "a")) == [.send(.answer(sdp: "a"), to: one)])
        // Another offer is a new start.
        #expect(room.handle(.offer(one, sdp: "p")) == [.closeSession(one), .answerOffer(one, sdp: "p")])
        #expect(room.handle(.refused(one)) == [notice(.bye, about: host, to: one)])
        #expect(room.clientState == .unbound)
        #expect(room.handle(.offer(one, sdp: "q")).isEmpty)
    }

    @Test("an answer that can't be used ends the call")
    func refusedAnswer() {
        var room = called()
        _ = room.handle(.answer(one, sdp: "a"))
        #expect(room.handle(.refused(one)) == [notice(.bye, about: host, to: one)])
        #expect(room.handle(.leave(one)).first == .left(one))
    }

    @Test("a session that ends by itself is bye, and the client may offer anew")
    func sessionEnded() {
        var room = called()
        #expect(
            room.handle(.sessionEnded(one)) == [
                notice(.bye, about: host, to: one), notice(.otherJoined, about: host, to: one),
            ])
        #expect(room.clientState == .connected)
        #expect(room.handle(.offer(one, sdp: "o")) == [.answerOffer(one, sdp: "o")])
    }

    @Test("a host with nothing to show says bye, and comes back when it has")
    func hostAway() {
        var room = called()
        #expect(room.handle(.hostBack).isEmpty)
        #expect(room.handle(.hostGone) == [.closeSession(one), notice(.bye, about: host, to: one)])
        #expect(room.clientState == .unbound)
        #expect(room.handle(.hostGone).isEmpty)
        #expect(room.handle(.hostBack) == [notice(.otherJoined, about: host, to: one)])
        #expect(room.clientState == .connected)

        var waiting = PairRoom(host: host, isHostThere: false)
        #expect(waiting.handle(.join(one)) == [.joined(one), notice(.joined, about: one, to: one)])
        #expect(waiting.handle(.offer(one, sdp: "o")).isEmpty)
        #expect(waiting.handle(.hostBack) == [notice(.otherJoined, about: host, to: one)])
    }

    @Test(
        "whatever comes, sessions open and close in turn and the client is never told what doesn't fit",
        arguments: 0..<20)
    func invariants(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var room = PairRoom(host: host)
        let members = [one, two, MemberID("three")]
        var states: [MemberID: PairState] = [:]
        var withSession: MemberID?
        for _ in 0..<500 {
            let member = members.randomElement(using: &random) ?? one
            let events: [PairEvent] = [
                .join(member), .leave(member), .lost(member), .offer(member, sdp: "o"), .answer(member, sdp: "a"),
                .candidate(member, candidate), .sessionEnded(member), .hostGone, .hostBack,
            ]
            var queue = [events.randomElement(using: &random) ?? .hostBack]
            // A session that isn't there can't end.
            if case .sessionEnded = queue[0] {
                guard withSession == member else { continue }
                withSession = nil
            }
            if case .lost = queue[0], room.client == member { states[member] = .left }
            if case .join = queue[0], room.client == member { states[member] = .left }
            while !queue.isEmpty {
                for action in room.handle(queue.removeFirst()) {
                    switch action {
                    case .send(.notice(let notice, _), let to):
                        var state = states[to] ?? .left
                        let before = state
                        let fits = state.take(notice)
                        #expect(fits, "\(notice) to one who is \(before)")
                        states[to] = state
                    case .openSession(let who):
                        #expect(withSession == nil)
                        let works = Bool.random(using: &random)
                        if works { withSession = who }
                        queue.append(
                            works ? .offered(who, sdp: "o") : .notOffered(who, isFull: Bool.random(using: &random)))
                    case .answerOffer(let who, _):
                        #expect(withSession == nil)
                        let works = Bool.random(using: &random)
                        if works { withSession = who }
                        queue.append(works ? .answered(who, sdp: "a") : .refused(who))
                    case .acceptAnswer(let who, _):
                        #expect(withSession == who)
                        guard Bool.random(using: &random) else { continue }
                        withSession = nil
                        queue.append(.refused(who))
                    case .closeSession(let who):
                        #expect(withSession == who)
                        withSession = nil
                    case .addCandidate(let who, _): #expect(withSession == who)
                    case .send, .joined, .left, .disconnect: break
                    }
                }
            }
            #expect(withSession == nil || withSession == room.client)
            #expect(room.clientState == room.client.map { states[$0] ?? .left } ?? .left)
        }
    }
}
