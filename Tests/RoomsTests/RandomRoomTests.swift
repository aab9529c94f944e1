import Rooms
import TestSupport
import Testing

/// Random events by a few members, against what must hold whatever they do.
@Suite("Whatever members do")
struct RandomRoomTests {
    private static let hosts = [MemberID("h0"), MemberID("h1")]
    private static let members = (0..<6).map { MemberID("m\($0)") }
    private static let tracks = ["screen", "b", "c"].compactMap { TrackName($0) }

    private struct Session: Hashable {
        let member: MemberID
        let track: TrackName
    }

    /// What a member knows of the mesh that it is in, and where it is.
    private struct Standing {
        var room: String
        var role: MemberRole
        var isMeeting: Bool
        var seen: Set<MemberID> = []
    }

    private func event(_ random: inout SeededRandom) -> RoomEvent {
        let member = Self.members.randomElement(using: &random) ?? Self.members[0]
        let target = (Self.members + Self.hosts).randomElement(using: &random) ?? Self.hosts[0]
        let key = RoomKey(["a,t", "b", "a", "c,t"].randomElement(using: &random) ?? "")
        let track = Self.tracks.randomElement(using: &random) ?? .screen
        let wanted = Bool.random(using: &random) ? track : nil
        let room = Bool.random(using: &random) ? "a" : "b"
        return switch Int.random(in: 0..<15, using: &random) {
        case 0: .join(member, key, Bool.random(using: &random) ? .peer : .viewer, name: "n")
        case 1: .leave(member)
        case 2, 3, 4: .offer(from: member, to: target, sdp: "o", track: wanted)
        case 5: .answer(from: member, to: target, sdp: "a")
        case 6: .sessionAnswered(member, track: track, sdp: "a")
        case 7: .sessionEnded(member, track: track, reason: "r")
        case 8: .addTrack(track, room: room)
        case 9:
            Int.random(in: 0..<4, using: &random) == 0 ? .removeTrack(track, room: room, reason: "r") : .unknown(member)
        case 10, 11: .meet(member, Bool.random(using: &random))
        case 12: .unwatch(member, wanted)
        case 13: .frames(member, wanted)
        default:
            .candidate(
                from: member, to: target, ICECandidate(candidate: "", mediaIndex: nil, mediaTag: nil), track: wanted)
        }
    }

    @Test(
        "sessions are opened and closed in turn, messages go to members of the sender's mesh, and all of a mesh know each other",
        arguments: 0..<20)
    func invariants(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rooms = RoomDirectory(
            [
                RoomDefinition(name: "a", access: AccessPolicy(viewing: AccessToken("t")), host: Self.hosts[0]),
                RoomDefinition(name: "b", access: AccessPolicy(viewing: nil), host: Self.hosts[1]),
            ], peerLimit: 3)
        var standings: [MemberID: Standing] = [:]
        var sessions: Set<Session> = []
        for _ in 0..<800 {
            let event = event(&random)
            let before = event.member.flatMap { standings[$0] }
            switch event {
            case .leave(let member), .join(let member, _, _, _): standings[member] = nil
            case .sessionEnded(let member, let track, _): sessions.remove(Session(member: member, track: track))
            default: break
            }
            for action in rooms.handle(event) {
                check(action, of: event, before, &standings, &sessions, rooms)
            }
            checkState(rooms, standings, sessions)
        }
    }

    private func check(
        _ action: RoomAction, of event: RoomEvent, _ before: Standing?, _ standings: inout [MemberID: Standing],
        _ sessions: inout Set<Session>, _ rooms: RoomDirectory
    ) {
        switch action {
        case .send(.peers(let connections, let you, _), _):
            let place = rooms.place(of: you)
            standings[you] = Standing(
                room: place?.room ?? "", role: place?.role ?? .peer, isMeeting: place?.role == .peer,
                seen: Set(connections).subtracting(Self.hosts))
        case .joined(let who, let room, let role):
            #expect(standings[who]?.room == room && standings[who]?.role == role)
        case .send(.meeting(let people), let who):
            standings[who]?.isMeeting = true
            standings[who]?.seen = Set(people.map(\.id))
        case .send(.notMeeting, let who):
            standings[who]?.isMeeting = false
            standings[who]?.seen = []
        case .send(.newPeer(let peer, _), let to): #expect(standings[to]?.seen.insert(peer).inserted == true)
        case .send(.removePeer(let peer), let to): #expect(standings[to]?.seen.remove(peer) == peer)
        case .openSession(let who, let room, let track, _), .openFrames(let who, let room, let track):
            #expect(standings[who]?.room == room && rooms.tracks(in: room).contains(track))
            #expect(sessions.insert(Session(member: who, track: track)).inserted)
        case .closeSession(let who, let track):
            #expect(sessions.remove(Session(member: who, track: track)) != nil)
        case .addCandidate(let who, _, let track), .setPlayoutDelay(let who, _, let track):
            #expect(sessions.contains(Session(member: who, track: track)))
        case .refuse(let who, _): #expect(who == event.member)
        case .send(.offer(_, let from), let to), .send(.candidate(_, let from), let to):
            #expect(from == event.member && before?.isMeeting == true && standings[to]?.isMeeting == true)
            #expect(standings[to]?.room == before?.room)
        case .send(.answer(_, let from, _), let to):
            #expect(Self.hosts.contains(from) || standings[to]?.room == before?.room)
        case .send, .tracksChanged: break
        }
    }

    private func checkState(_ rooms: RoomDirectory, _ standings: [MemberID: Standing], _ sessions: Set<Session>) {
        for session in sessions {
            #expect(standings[session.member] != nil)
            #expect(rooms.isWatching(session.member, session.track))
        }
        for room in ["a", "b"] {
            let here = standings.filter { $0.value.room == room }
            #expect(rooms.memberCount(in: room) == here.count)
            #expect(Set(rooms.members(in: room)) == Set(here.keys))
            let mesh = Set(here.filter(\.value.isMeeting).keys)
            #expect(mesh.count <= 3)
            for member in mesh { #expect(here[member]?.seen == mesh.subtracting([member])) }
            let people = rooms.people(in: room)
            #expect(people.count == here.count && Set(people.members.map(\.id)) == Set(here.keys))
            #expect(Set(people.members.filter(\.isMeeting).map(\.id)) == mesh)
        }
    }
}
