import Rooms
import TestSupport
import Testing

private let host = MemberID("host")
private let ann = MemberID("ann")
private let ben = MemberID("ben")
private let eve = MemberID("eve")
private let key = RoomKey("desk")

private func makeDirectory(peerLimit: Int = 32) -> RoomDirectory {
    RoomDirectory(
        [
            RoomDefinition(name: "desk", access: AccessPolicy(viewing: nil), host: host),
            RoomDefinition(name: "attic", access: AccessPolicy(viewing: nil), host: MemberID("host of the attic")),
        ], peerLimit: peerLimit)
}

/// A room with ann, then ben, both viewers that meet.
private func makeMeeting() -> RoomDirectory {
    var rooms = makeDirectory()
    for member in [ann, ben] {
        _ = rooms.handle(.join(member, key, .viewer))
        _ = rooms.handle(.meet(member, true))
    }
    return rooms
}

@Suite("Meeting")
struct MeetingTests {
    @Test("a viewer that meets is seen by plain clients and others who meet, and told of them")
    func meeting() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .peer, name: "Ann"))
        _ = rooms.handle(.join(ben, key, .viewer, name: " Ben\u{202E}\n "))
        _ = rooms.handle(.join(eve, key, .viewer))
        #expect(
            rooms.handle(.meet(ben, true)) == [
                .send(.newPeer(ben, name: "Ben"), to: ann),
                .send(.meeting([MemberDescription(id: ann, name: "Ann", isMeeting: true)]), to: ben),
            ])
        #expect(rooms.handle(.meet(ben, true)) == [])
        #expect(rooms.handle(.offer(from: ben, to: ann, sdp: "o")) == [.send(.offer(sdp: "o", from: ben), to: ann)])
        #expect(rooms.handle(.offer(from: ben, to: eve, sdp: "o")) == [])
        #expect(rooms.viewers(in: "desk") == [ben, eve])
        #expect(
            rooms.handle(.meet(ben, false)) == [
                .send(.removePeer(ben), to: ann), .send(.notMeeting(reason: nil), to: ben),
            ])
        #expect(rooms.handle(.answer(from: ann, to: ben, sdp: "a")) == [])
        #expect(rooms.handle(.meet(ben, false)) == [])
        #expect(rooms.handle(.meet(ann, false)) == [])
    }

    @Test("who vanishes or moves while meeting is removed for the others, once")
    func vanishing() {
        var rooms = makeMeeting()
        #expect(rooms.handle(.leave(ann)) == [.send(.removePeer(ann), to: ben)])
        #expect(rooms.handle(.leave(ann)) == [])
        _ = rooms.handle(.join(ann, key, .peer))
        #expect(rooms.handle(.join(ben, RoomKey("attic"), .viewer)).first == .send(.removePeer(ben), to: ann))
        #expect(rooms.place(of: ben)?.isMeeting == false)
    }

    @Test("a mesh that is full takes no more viewers and no more plain clients, and says so")
    func full() {
        var rooms = makeDirectory(peerLimit: 1)
        _ = rooms.handle(.join(ann, key, .viewer))
        _ = rooms.handle(.meet(ann, true))
        #expect(rooms.handle(.join(ben, key, .peer)) == [.refuse(ben, .full)])
        _ = rooms.handle(.join(eve, key, .viewer))
        #expect(rooms.handle(.meet(eve, true)) == [.send(.notMeeting(reason: "the meeting is full"), to: eve)])
        #expect(rooms.place(of: eve)?.isMeeting == false)
    }

    @Test("of two offers that cross, that of who came later wins, whichever is first")
    func glare() {
        // The later one's is on its way already.
        var rooms = makeMeeting()
        _ = rooms.handle(.offer(from: ben, to: ann, sdp: "b"))
        #expect(rooms.handle(.offer(from: ann, to: ben, sdp: "a")) == [])
        #expect(
            rooms.handle(.answer(from: ann, to: ben, sdp: "yes")) == [.send(.answer(sdp: "yes", from: ann), to: ben)])
        #expect(rooms.handle(.offer(from: ann, to: ben, sdp: "a")) == [.send(.offer(sdp: "a", from: ann), to: ben)])

        // The earlier one's is on its way already: its answer is nobody's.
        rooms = makeMeeting()
        _ = rooms.handle(.offer(from: ann, to: ben, sdp: "a"))
        #expect(rooms.handle(.offer(from: ben, to: ann, sdp: "b")) == [.send(.offer(sdp: "b", from: ben), to: ann)])
        #expect(rooms.handle(.answer(from: ben, to: ann, sdp: "no")) == [])
        #expect(
            rooms.handle(.answer(from: ann, to: ben, sdp: "yes")) == [.send(.answer(sdp: "yes", from: ann), to: ben)])
    }

    @Test("who doesn't know how to give way and offers again is heard")
    func stubborn() {
        var rooms = makeMeeting()
        _ = rooms.handle(.offer(from: ben, to: ann, sdp: "b"))
        #expect(rooms.handle(.offer(from: ann, to: ben, sdp: "1")) == [])
        #expect(rooms.handle(.offer(from: ann, to: ben, sdp: "2")) == [.send(.offer(sdp: "2", from: ann), to: ben)])
        #expect(
            rooms.handle(.answer(from: ben, to: ann, sdp: "yes")) == [.send(.answer(sdp: "yes", from: ben), to: ann)])
    }

    @Test("an answer to nothing is not passed on, nor one to who has left and come back")
    func strayAnswers() {
        var rooms = makeMeeting()
        #expect(rooms.handle(.answer(from: ann, to: ben, sdp: "a")) == [])
        _ = rooms.handle(.offer(from: ben, to: ann, sdp: "b"))
        _ = rooms.handle(.meet(ben, false))
        _ = rooms.handle(.meet(ben, true))
        #expect(rooms.handle(.answer(from: ann, to: ben, sdp: "a")) == [])
    }
}

@Suite("Who is in the room, as viewers are told")
struct PeopleTests {
    @Test("who meets comes first, then who has a name, then the others, and no more than are asked for")
    func order() {
        var rooms = makeDirectory()
        let members = (0..<60).map { MemberID("m\($0)") }
        for (index, member) in members.enumerated() {
            _ = rooms.handle(.join(member, key, .viewer, name: index % 10 == 5 ? "Nr. \(index)" : nil))
        }
        _ = rooms.handle(.meet(members[33], true))
        _ = rooms.handle(.meet(members[15], true))
        let people = rooms.people(in: "desk")
        #expect(people.count == 60)
        #expect(people.members.count == 50)
        #expect(people.members.map(\.id.text).prefix(8) == ["m33", "m15", "m5", "m25", "m35", "m45", "m55", "m0"])
        #expect(Set(people.members.map(\.id)).count == 50)
        #expect(people.members[1] == MemberDescription(id: members[15], name: "Nr. 15", isMeeting: true))
        for member in members.dropFirst(2) { _ = rooms.handle(.leave(member)) }
        #expect(rooms.people(in: "desk").members.map(\.id) == [members[0], members[1]])
        #expect(rooms.people(in: "attic").count == 0)
    }

    @Test(
        "a name loses what can't be seen, and its end where it is too long",
        arguments: [
            ("Ann", "Ann"), ("  Ann \t", "Ann"), ("A\u{0}n\u{7}n\u{9B}", "Ann"), ("\u{202E}nnA", "nnA"),
            ("\u{200B}\n", nil), ("", nil), ("<b>Ann</b>", "<b>Ann</b>"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"), ("李雷", "李雷"),
            (String(repeating: "x", count: 70), String(repeating: "x", count: 64)),
            // Joiners, a combining mark, blank letters and symbols, and a variation selector.
            ("\u{200D}\u{200C}", nil), ("\u{301}", nil), ("\u{3164} \u{2800}\u{115F}\u{FFA0}", nil), ("\u{FE0F}", nil),
            ("e\u{301}", "e\u{301}"), ("\u{0E33}", "\u{0E33}"), (".", "."), ("1\u{FE0F}\u{20E3}", "1\u{FE0F}\u{20E3}"),
        ])
    func names(text: String, clean: String?) {
        #expect(MemberName.clean(text) == clean)
    }

    @Test("no name is long, whatever stands in it")
    func longNames() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<300 {
            var text = ""
            for _ in 0..<Int.random(in: 0...2000, using: &random) {
                text.unicodeScalars.append(
                    Unicode.Scalar(UInt32.random(in: 0...0x11_0000, using: &random)) ?? "\u{301}")
            }
            guard let name = MemberName.clean(text) else { continue }
            #expect(name.count <= 64 && name.unicodeScalars.count <= 256 && !name.isEmpty)
        }
    }
}
