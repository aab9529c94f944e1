import Rooms
import Testing

private let host = MemberID("host-of-desk")
private let attic = MemberID("host-of-attic")
private let ann = MemberID("ann")
private let ben = MemberID("ben")
private let eve = MemberID("eve")
private let key = RoomKey("desk,secret")

/// Two rooms with a track each: "desk" with a token, "attic" open to all.
private func makeDirectory(peerLimit: Int = 32) -> RoomDirectory {
    var rooms = RoomDirectory(
        [
            RoomDefinition(name: "desk", access: AccessPolicy(viewing: AccessToken("secret")), host: host),
            RoomDefinition(name: "attic", access: AccessPolicy(viewing: nil), host: attic),
        ], peerLimit: peerLimit)
    for room in rooms.roomNames { _ = rooms.handle(.addTrack(.screen, room: room)) }
    return rooms
}

@Suite("Who is in a room")
struct JoiningTests {
    @Test("a newcomer is told of the others and, last, of the host; the others were told of it before")
    func peersJoin() {
        var rooms = makeDirectory()
        #expect(
            rooms.handle(.join(ann, key, .peer)) == [
                .send(.peers(connections: [host], you: ann, host: host), to: ann), .joined(ann, room: "desk", .peer),
            ])
        #expect(
            rooms.handle(.join(ben, key, .peer)) == [
                .send(.newPeer(ben), to: ann), .send(.peers(connections: [ann, host], you: ben, host: host), to: ben),
                .joined(ben, room: "desk", .peer),
            ])
        #expect(rooms.memberCount(in: "desk") == 2)
    }

    @Test("a viewer sees the host alone and nobody sees it")
    func viewersAreHidden() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        #expect(
            rooms.handle(.join(eve, key, .viewer)) == [
                .send(.peers(connections: [host], you: eve, host: host), to: eve), .joined(eve, room: "desk", .viewer),
            ])
        #expect(
            rooms.handle(.join(ben, key, .peer)).contains(
                .send(.peers(connections: [ann, host], you: ben, host: host), to: ben)))
        #expect(rooms.viewers(in: "desk") == [eve])
        #expect(rooms.handle(.leave(eve)) == [])
        #expect(rooms.viewers(in: "desk") == [])
    }

    @Test("who leaves is taken from the others' lists once")
    func leaving() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        _ = rooms.handle(.join(ben, key, .peer))
        #expect(rooms.handle(.leave(ann)) == [.send(.removePeer(ann), to: ben)])
        #expect(rooms.handle(.leave(ann)) == [])
        #expect(rooms.memberCount(in: "desk") == 1)
    }

    @Test("who joins again moves and leaves no ghost behind")
    func rejoining() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        _ = rooms.handle(.join(ben, key, .peer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "v=0"))
        #expect(
            rooms.handle(.join(ann, RoomKey("attic"), .peer)) == [
                .closeSession(ann), .send(.removePeer(ann), to: ben),
                .send(.peers(connections: [attic], you: ann, host: attic), to: ann), .joined(ann, room: "attic", .peer),
            ])
        #expect(rooms.memberCount(in: "desk") == 1)
        #expect(rooms.memberCount(in: "attic") == 1)
    }

    @Test(
        "a wrong room, a wrong token and no token are refused alike",
        arguments: [
            "desk", "desk,", "desk,secre", "desk,secrett", "nowhere", "nowhere,secret", ",wrong", "",
        ])
    func refusals(name: String) {
        var rooms = makeDirectory()
        #expect(rooms.handle(.join(ann, RoomKey(name), .peer)) == [.refuse(ann, .notAdmitted)])
        #expect(rooms.memberCount(in: "desk") == 0)
    }

    @Test("a room that isn't named, or is SkyRTC's default, is the first", arguments: [",secret", "__default,secret"])
    func defaultRoom(name: String) {
        var rooms = makeDirectory()
        #expect(rooms.handle(.join(ann, RoomKey(name), .peer)).contains(.joined(ann, room: "desk", .peer)))
    }

    @Test("who is refused while in another room is in none after it")
    func refusedMove() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        #expect(rooms.handle(.join(ann, RoomKey("desk,wrong"), .peer)) == [.refuse(ann, .notAdmitted)])
        #expect(rooms.memberCount(in: "desk") == 0)
    }

    @Test("a join among thousands of viewers is told to who joins alone, and a leave to nobody")
    func joinsAreCheap() {
        var rooms = makeDirectory()
        for number in 0..<3000 {
            let viewer = MemberID("viewer \(number)")
            #expect(rooms.handle(.join(viewer, key, .viewer, name: "Viewer")).count == 2)
        }
        #expect(rooms.people(in: "desk").members.count == 50)
        for number in 0..<3000 where number % 3 != 1 {
            #expect(rooms.handle(.leave(MemberID("viewer \(number)"))) == [])
        }
        #expect(rooms.people(in: "desk").count == 1000)
        #expect(rooms.people(in: "desk").members.first?.id == MemberID("viewer 1"))
    }

    @Test("a room takes so many plain clients and any number of viewers")
    func fullRoom() {
        var rooms = makeDirectory(peerLimit: 2)
        _ = rooms.handle(.join(ann, key, .peer))
        _ = rooms.handle(.join(ben, key, .peer))
        #expect(rooms.handle(.join(eve, key, .peer)) == [.refuse(eve, .full)])
        for number in 0..<100 { _ = rooms.handle(.join(MemberID("viewer \(number)"), key, .viewer)) }
        #expect(rooms.memberCount(in: "desk") == 102)
    }
}

@Suite("What members say to each other and to the host")
struct TalkingTests {
    private let candidate = ICECandidate(
        candidate: "candidate:1 1 udp 1 10.0.0.1 9 typ host", mediaIndex: 0, mediaTag: "0")

    @Test("an offer to the host opens a session, and the host's answer goes back")
    func offerToHost() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .viewer))
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "offer")) == [
                .openSession(ann, room: "desk", offer: "offer")
            ])
        #expect(
            rooms.handle(.sessionAnswered(ann, sdp: "answer")) == [.send(.answer(sdp: "answer", from: host), to: ann)])
        #expect(rooms.handle(.candidate(from: ann, to: host, candidate)) == [.addCandidate(ann, candidate)])
        #expect(rooms.handle(.leave(ann)) == [.closeSession(ann)])
    }

    @Test("a second offer to the host ends the first session")
    func secondOffer() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "1"))
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "2")) == [
                .closeSession(ann), .openSession(ann, room: "desk", offer: "2"),
            ])
    }

    @Test("a session that the media side ended is told of once, and a new offer starts anew")
    func sessionEnds() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .viewer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "1"))
        #expect(
            rooms.handle(.sessionEnded(ann, reason: "silence")) == [
                .send(.sessionEnded(host: host, reason: "silence"), to: ann)
            ])
        #expect(rooms.handle(.sessionEnded(ann, reason: "silence")) == [])
        #expect(rooms.handle(.sessionAnswered(ann, sdp: "late")) == [])
        #expect(rooms.handle(.candidate(from: ann, to: host, candidate)) == [])
        #expect(rooms.handle(.offer(from: ann, to: host, sdp: "2")) == [.openSession(ann, room: "desk", offer: "2")])
    }

    @Test("a refused offer is answered with the reason, and leaves no session")
    func refusedOffer() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .viewer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "1"))
        #expect(
            rooms.handle(.sessionRefused(ann, reason: "no H.264")) == [
                .send(.offerRefused(host: host, reason: "no H.264"), to: ann)
            ])
        #expect(rooms.handle(.leave(ann)) == [])
    }

    @Test("offers, answers and candidates pass between plain clients of one room")
    func relaying() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        _ = rooms.handle(.join(ben, key, .peer))
        #expect(rooms.handle(.offer(from: ben, to: ann, sdp: "o")) == [.send(.offer(sdp: "o", from: ben), to: ann)])
        #expect(rooms.handle(.answer(from: ann, to: ben, sdp: "a")) == [.send(.answer(sdp: "a", from: ann), to: ben)])
        #expect(
            rooms.handle(.candidate(from: ann, to: ben, candidate)) == [
                .send(.candidate(candidate, from: ann), to: ben)
            ])
    }

    @Test("nothing passes to another room, to or from a viewer, to oneself, to nobody, or before joining")
    func notRelayed() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer))
        _ = rooms.handle(.join(ben, RoomKey("attic"), .peer))
        _ = rooms.handle(.join(eve, key, .viewer))
        let stranger = MemberID("stranger")
        let senders: [(MemberID, MemberID)] = [
            (ann, ben), (ann, eve), (eve, ann), (ann, ann), (ann, stranger), (stranger, ann), (stranger, host),
            (ann, attic),
        ]
        for (sender, target) in senders {
            #expect(rooms.handle(.offer(from: sender, to: target, sdp: "o")) == [])
            #expect(rooms.handle(.answer(from: sender, to: target, sdp: "a")) == [])
            #expect(rooms.handle(.candidate(from: sender, to: target, candidate)) == [])
        }
        #expect(rooms.handle(.answer(from: ann, to: host, sdp: "a")) == [])
        #expect(rooms.handle(.unknown(ann)) == [])
        #expect(rooms.ignoredEvents == senders.count * 3 + 2)
    }
}

@Suite("Keys and tokens")
struct RoomKeyTests {
    @Test("a key is split at its first two commas")
    func splitting() {
        #expect(RoomKey("desk,a,b,c") == RoomKey(room: "desk", token: "a", password: "b,c"))
        #expect(RoomKey("desk") == RoomKey(room: "desk", token: ""))
        #expect(RoomKey("") == RoomKey(room: "", token: ""))
        #expect(RoomKey(",t") == RoomKey(room: "", token: "t"))
    }

    @Test("a token matches itself alone, and an empty one nothing")
    func matching() {
        let token = AccessToken("abcabc")
        #expect(token.matches("abcabc"))
        for other in ["", "a", "abc", "abcab", "abcabd", "bbcabc", "abcabcabcabc", "abcabca"] {
            #expect(!token.matches(other))
        }
        #expect(!AccessToken("").matches(""))
        #expect("\(token)" == "token")
    }
}
