import Rooms
import TestSupport
import Testing

/// Random events by a few members, against what must hold whatever they do.
@Suite("Whatever members do")
struct RandomRoomTests {
    @Test("sessions are opened and closed in turn, and messages go to members of the sender's room", arguments: 0..<20)
    func invariants(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let hosts = [MemberID("h0"), MemberID("h1")]
        var rooms = RoomDirectory(
            [
                RoomDefinition(name: "a", access: AccessPolicy(viewing: AccessToken("t")), host: hosts[0]),
                RoomDefinition(name: "b", access: AccessPolicy(viewing: nil), host: hosts[1]),
            ], peerLimit: 3)
        let members = (0..<6).map { MemberID("m\($0)") }
        var place: [MemberID: (room: String, role: MemberRole)] = [:]
        var withSession: Set<MemberID> = []
        for _ in 0..<500 {
            let member = members.randomElement(using: &random) ?? members[0]
            let target = (members + hosts).randomElement(using: &random) ?? hosts[0]
            let key = RoomKey(["a,t", "b", "a", "c,t"].randomElement(using: &random) ?? "")
            let event: RoomEvent =
                switch Int.random(in: 0..<8, using: &random) {
                case 0: .join(member, key, Bool.random(using: &random) ? .peer : .viewer)
                case 1: .leave(member)
                case 2, 3: .offer(from: member, to: target, sdp: "o")
                case 4: .answer(from: member, to: target, sdp: "a")
                case 5: .sessionAnswered(member, sdp: "a")
                case 6: .sessionEnded(member, reason: "r")
                default:
                    .candidate(from: member, to: target, ICECandidate(candidate: "", mediaIndex: nil, mediaTag: nil))
                }
            let before = place[member]
            if case .leave = event { place[member] = nil }
            if case .join = event { place[member] = nil }
            if case .sessionEnded = event { withSession.remove(member) }
            for action in rooms.handle(event) {
                switch action {
                case .joined(let who, let room, let role): place[who] = (room, role)
                case .openSession(let who, let room, _):
                    #expect(place[who]?.room == room)
                    #expect(withSession.insert(who).inserted)
                case .closeSession(let who): #expect(withSession.remove(who) != nil)
                case .addCandidate(let who, _): #expect(withSession.contains(who))
                case .refuse(let who, _): #expect(who == member)
                case .send(.offer, let to), .send(.candidate, let to):
                    #expect(place[to]?.room == before?.room)
                    #expect(place[to]?.role == .peer)
                case .send: break
                }
            }
            #expect(withSession.isSubset(of: place.keys))
            for room in ["a", "b"] {
                #expect(rooms.memberCount(in: room) == place.values.count { $0.room == room })
            }
        }
    }
}
