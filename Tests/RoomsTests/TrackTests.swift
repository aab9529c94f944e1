import Rooms
import Testing

private let host = MemberID("host-of-desk")
private let ann = MemberID("ann")
private let ben = MemberID("ben")
private let key = RoomKey("desk")
private let second = TrackName("desk2") ?? .screen

/// One open room without a track.
private func makeDirectory() -> RoomDirectory {
    RoomDirectory([RoomDefinition(name: "desk", access: AccessPolicy(viewing: nil), host: host)])
}

@Suite("The tracks of a room")
struct TrackTests {
    @Test("tracks come and go, in their order, each once")
    func order() {
        var rooms = makeDirectory()
        #expect(rooms.handle(.addTrack(.screen, room: "desk")) == [.tracksChanged(room: "desk")])
        #expect(rooms.handle(.addTrack(.screen, room: "desk")) == [])
        #expect(rooms.handle(.addTrack(second, room: "nowhere")) == [])
        #expect(rooms.handle(.addTrack(second, room: "desk")) == [.tracksChanged(room: "desk")])
        #expect(rooms.tracks(in: "desk") == [.screen, second])
        #expect(
            rooms.handle(.removeTrack(.screen, room: "desk", reason: "over")) == [.tracksChanged(room: "desk")])
        #expect(rooms.handle(.removeTrack(.screen, room: "desk", reason: "over")) == [])
        #expect(rooms.tracks(in: "desk") == [second])
        for number in 0..<40 {
            guard let name = TrackName("t\(number)") else { continue }
            _ = rooms.handle(.addTrack(name, room: "desk"))
        }
        #expect(rooms.tracks(in: "desk").count == RoomDirectory.trackLimit)
    }

    @Test("a room without a track refuses offers in words, and so does one without that track")
    func noTrack() {
        var rooms = makeDirectory()
        _ = rooms.handle(.join(ann, key, .viewer))
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "o")) == [
                .send(.offerRefused(host: host, reason: "nothing is shared in this room now"), to: ann)
            ])
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "o", track: second)) == [
                .send(
                    .offerRefused(host: host, reason: "this room has no track of that name", track: second), to: ann)
            ])
        #expect(rooms.handle(.leave(ann)) == [])
    }

    @Test("pictures on the WebSocket are a session like that of an offer, for members alone")
    func frames() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        #expect(rooms.handle(.frames(ann)) == [])
        _ = rooms.handle(.join(ann, key, .viewer))
        #expect(
            rooms.handle(.frames(ann, second)) == [
                .send(
                    .offerRefused(host: host, reason: "this room has no track of that name", track: second), to: ann)
            ])
        #expect(rooms.handle(.frames(ann)) == [.openFrames(ann, room: "desk")])
        #expect(rooms.tracksWatched(by: ann) == [.screen])
        // Each takes the other's place.
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "o")) == [
                .closeSession(ann), .openSession(ann, room: "desk", offer: "o"),
            ])
        #expect(rooms.handle(.frames(ann)) == [.closeSession(ann), .openFrames(ann, room: "desk")])
        #expect(rooms.handle(.unwatch(ann, nil)) == [.closeSession(ann)])
        #expect(rooms.handle(.frames(ann)) == [.openFrames(ann, room: "desk")])
        #expect(rooms.handle(.leave(ann)) == [.closeSession(ann)])
    }

    @Test("an offer or candidate without a receiver is for the host, from a client that doesn't know its ID yet")
    func noReceiver() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        let nobody = MemberID("")
        #expect(rooms.handle(.offer(from: ann, to: nobody, sdp: "o")) == [])
        _ = rooms.handle(.join(ann, key, .viewer))
        #expect(
            rooms.handle(.offer(from: ann, to: nobody, sdp: "o")) == [.openSession(ann, room: "desk", offer: "o")])
        let candidate = ICECandidate(candidate: "c", mediaIndex: 0, mediaTag: "0")
        #expect(rooms.handle(.candidate(from: ann, to: nobody, candidate)) == [.addCandidate(ann, candidate)])
    }

    @Test("a member has a session for each track; a second offer for one ends that one's first")
    func sessions() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.addTrack(second, room: "desk"))
        _ = rooms.handle(.join(ann, key, .viewer))
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "1")) == [.openSession(ann, room: "desk", offer: "1")])
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "2", track: second)) == [
                .openSession(ann, room: "desk", track: second, offer: "2")
            ])
        #expect(rooms.tracksWatched(by: ann) == [.screen, second])
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "3", track: second)) == [
                .closeSession(ann, track: second), .openSession(ann, room: "desk", track: second, offer: "3"),
            ])
        #expect(
            rooms.handle(.sessionAnswered(ann, track: second, sdp: "a")) == [
                .send(.answer(sdp: "a", from: host, track: second), to: ann)
            ])
        #expect(
            rooms.handle(.sessionAnswered(ann, sdp: "a")) == [
                .send(.answer(sdp: "a", from: host, track: .screen), to: ann)
            ])
        #expect(rooms.handle(.setPlayoutDelay(ann, milliseconds: 40)) == [.setPlayoutDelay(ann, milliseconds: 40)])
        #expect(
            rooms.handle(.setPlayoutDelay(ann, milliseconds: 4_000, nil)) == [.setPlayoutDelay(ann, milliseconds: 500)])
        #expect(rooms.handle(.setPlayoutDelay(ann, milliseconds: -1, nil)) == [.setPlayoutDelay(ann, milliseconds: 0)])
        #expect(rooms.handle(.unwatch(ann, nil)) == [.closeSession(ann, track: .screen)])
        #expect(rooms.handle(.setPlayoutDelay(ann, milliseconds: 40)) == [])
        #expect(rooms.handle(.unwatch(ann, nil)) == [])
        #expect(rooms.handle(.leave(ann)) == [.closeSession(ann, track: second)])
    }

    @Test("messages name the track once the room has had two, and not before")
    func labels() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.join(ann, key, .viewer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "1"))
        #expect(rooms.handle(.sessionAnswered(ann, sdp: "a")) == [.send(.answer(sdp: "a", from: host), to: ann)])
        #expect(!rooms.namesTracks(in: "desk"))
        _ = rooms.handle(.addTrack(second, room: "desk"))
        _ = rooms.handle(.removeTrack(second, room: "desk", reason: "over"))
        #expect(rooms.namesTracks(in: "desk"))
        #expect(
            rooms.handle(.sessionEnded(ann, reason: "silence")) == [
                .send(.sessionEnded(host: host, reason: "silence", track: .screen), to: ann)
            ])
    }

    @Test("a track that goes ends its sessions, and no others")
    func removal() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.addTrack(second, room: "desk"))
        for member in [ann, ben] { _ = rooms.handle(.join(member, key, .viewer)) }
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "1"))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "2", track: second))
        _ = rooms.handle(.offer(from: ben, to: host, sdp: "3"))
        #expect(
            rooms.handle(.removeTrack(second, room: "desk", reason: "over")) == [
                .closeSession(ann, track: second),
                .send(.sessionEnded(host: host, reason: "over", track: second), to: ann),
                .tracksChanged(room: "desk"),
            ])
        #expect(rooms.tracksWatched(by: ann) == [.screen])
        #expect(rooms.handle(.sessionEnded(ann, track: second, reason: "late")) == [])
    }

    @Test("when the first track goes, the next one becomes first")
    func nextFirst() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.addTrack(second, room: "desk"))
        _ = rooms.handle(.join(ann, key, .viewer))
        _ = rooms.handle(.join(ben, key, .peer))
        #expect(rooms.peerCount(of: second, in: "desk") == 0)
        _ = rooms.handle(.removeTrack(.screen, room: "desk", reason: "over"))
        #expect(
            rooms.handle(.offer(from: ann, to: host, sdp: "o")) == [
                .openSession(ann, room: "desk", track: second, offer: "o")
            ])
        #expect(rooms.peerCount(of: second, in: "desk") == 1)
    }

    @Test("a candidate goes to the session of its track")
    func candidates() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.addTrack(second, room: "desk"))
        _ = rooms.handle(.join(ann, key, .viewer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "2", track: second))
        let candidate = ICECandidate(candidate: "c", mediaIndex: 0, mediaTag: nil)
        #expect(rooms.handle(.candidate(from: ann, to: host, candidate)) == [])
        #expect(
            rooms.handle(.candidate(from: ann, to: host, candidate, track: second)) == [
                .addCandidate(ann, candidate, track: second)
            ])
    }

    @Test("plain clients count as readers of the first track, and of another one that they watch")
    func peers() {
        var rooms = makeDirectory()
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.addTrack(second, room: "desk"))
        _ = rooms.handle(.join(ann, key, .peer))
        #expect(rooms.peerCount(of: .screen, in: "desk") == 1)
        #expect(rooms.peerCount(of: second, in: "desk") == 0)
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "o", track: second))
        #expect(rooms.peerCount(of: second, in: "desk") == 1)
    }

    @Test(
        "a name of a track has 1 to 64 letters, digits, dashes, underscores and dots",
        arguments: [
            ("screen", true), ("Desk_2.left-half", true), ("", false), ("a b", false), ("a/b", false), ("ä", false),
            ("\"", false), (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
        ])
    func names(text: String, isName: Bool) {
        #expect((TrackName(text) != nil) == isName)
    }
}
