import Clocks
import MediaTypes
import Rooms
import Threading

/// Whose turn it is to present. A viewer asks for the turn, and members with the presenters' token and the host's user
/// decide. A turn belongs to the visit: it ends when the member leaves its room, and no other client can use it.
extension Presenters {
    /// The largest number of members in a list of turns.
    private static let listLimit = 50

    /// Whether viewers of `room` may ask for the turn to present.
    private func acceptsRequests(in room: String) -> Bool {
        acceptsPublishers && acceptsTurnRequests && rooms.directory.hasPresenters(room)
    }

    /// The turn of a viewer of `room`, as its page is told it.
    func report(of viewer: RoomMember, in room: String) -> TurnReport {
        let now = MonotonicTime.now()
        if let turn = viewer.turn { return TurnReport(turn.rawValue, end: viewer.turnEnd, now: now) }
        guard acceptsRequests(in: room) else { return TurnReport(nil, now: now) }
        return TurnReport("none", mayAskFrom: viewer.mayAskFrom, now: now)
    }

    /// Whether the visit `visit` to `room` has the turn, so that it needs no presenters' token.
    func hasTurn(_ visit: String?, in room: String) -> Bool {
        visit.flatMap { member(of: $0, in: room) }?.turn == .granted
    }

    /// The member joins with the presenters' token, or without. Without a turn, it no longer presents.
    func join(_ member: RoomMember, asOwner isOwner: Bool) {
        let former = member.turn
        member.join(asOwner: isOwner)
        if member.turn != former { changed(around: member.id) }
        if !member.mayPresent { end(member.id, .over) }
    }

    /// Carries out a viewer's request. Returns false, and changes nothing, if the viewer may not make it. One that asks
    /// too soon after its request was declined is told how long to wait.
    func carryOut(_ request: TurnRequest, of viewer: RoomMember) -> Bool {
        guard let place = rooms.directory.place(of: viewer.id), place.role == .viewer else { return false }
        switch request {
        case .ask:
            guard viewer.turn == nil, acceptsRequests(in: place.room) else { return false }
            guard viewer.mayAskFrom <= .now() else {
                tellTurn(of: viewer, in: place.room)
                return false
            }
            set(.asked, of: viewer)
            log(of: viewer.address).info("room \(place.room): a viewer from \(viewer.address) asks to present")
        case .leave:
            guard viewer.turn == .asked || viewer.turn == .granted else { return false }
            endTurn(of: viewer, .stopped)
        case .pass(let other):
            // The other one gets the time that is left.
            let end = viewer.turnEnd
            guard viewer.turn == .granted, decide(.allow, of: other, in: place.room, until: end) else { return false }
            endTurn(of: viewer, .over)
        case .decide(let decision, let other):
            return viewer.turn == .owner && decide(decision, of: other, in: place.room)
        }
        return true
    }

    /// Decides about a member's turn, in `room` if one is given. An allowed turn ends at `end`; nil means no end.
    /// Returns false, and does nothing, if the member isn't there, hasn't asked, or has no turn that could end.
    func decide(
        _ decision: TurnDecision, of id: MemberID, in room: String? = nil, until end: MonotonicTime? = nil
    ) -> Bool {
        guard let member = rooms[id], let place = rooms.directory.place(of: id), room == nil || place.room == room
        else { return false }
        switch decision {
        case .allow:
            guard member.turn == .asked else { return false }
            set(.granted, of: member, until: end)
        case .decline:
            guard member.turn == .asked else { return false }
            member.mayAskFrom = MonotonicTime.now() + askAgainTime
            set(nil, of: member)
        case .end:
            guard member.mayPresent else { return false }
            endTurn(of: member, .over)
        }
        return true
    }

    /// Ends a member's turn and what it presents. The page is told first, so that it doesn't try again.
    func endTurn(of member: RoomMember, _ ending: Presenter.Ending) {
        set(nil, of: member)
        end(member.id, ending)
    }

    /// Ends the turns whose time is over.
    func endTurns(at now: MonotonicTime) {
        for member in Array(rooms.members.values) {
            if let end = member.turnEnd, end <= now { endTurn(of: member, .over) }
        }
    }

    private func set(_ turn: Turn?, of member: RoomMember, until end: MonotonicTime? = nil) {
        guard member.turn != turn else { return }
        member.turn = turn
        member.turnEnd = end
        guard let room = rooms.directory.place(of: member.id)?.room else { return }
        tellTurn(of: member, in: room)
        changedRooms.insert(room)
    }

    private func tellTurn(of viewer: RoomMember, in room: String) {
        viewer.socket.send(SkyRTCReply(turn: report(of: viewer, in: room)).text)
    }

    /// The member is no longer a viewer of `room`, or has joined it again under another name. `other` is the room that
    /// it views now.
    func moved(_ id: MemberID, from room: String, to other: String?) {
        let member = rooms[id]
        if member?.turn != nil { changedRooms.insert(room) }
        guard room != other else { return }
        disconnected(id)
        // An owner's right is that of its last `__join`.
        if member?.turn != .owner { member?.turn = nil }
    }

    /// Sends the members who decide in a changed room whose turn it is. Called once per second, so that a viewer who
    /// asks again and again causes few messages.
    func tellChanges() {
        for room in changedRooms {
            let members = turns(in: room)
            for member in members where member.mayPresent { tell(members, to: member) }
        }
        changedRooms = []
    }

    /// Sends a newcomer whose turn it is, if it may present.
    func tellTurns(of room: String, to member: RoomMember) {
        if member.mayPresent { tell(turns(in: room), to: member) }
    }

    /// The viewers of `room` that have a turn, and then those that have asked for it, each in the order of time. So any
    /// number of requests leaves a presenter in the list, where its turn can be ended.
    private func turns(in room: String) -> [RoomMember] {
        let members = rooms.viewers(in: room).filter { $0.turn != nil }.sorted { $0.turnSince < $1.turnSince }
        return members.filter(\.mayPresent) + members.filter { !$0.mayPresent }
    }

    /// Sends `receiver` those of `members` that it decides about: an owner all others that ask or may present, except
    /// owners who present nothing, and another presenter those that ask.
    private func tell(_ members: [RoomMember], to receiver: RoomMember) {
        let isOwner = receiver.turn == .owner
        let shown = members.filter { member in
            guard member !== receiver else { return false }
            return switch member.turn {
            case .asked?: true
            case .granted?: isOwner
            case .owner?: isOwner && isPresenting(member.id)
            case nil: false
            }
        }
        let list = shown.prefix(Self.listLimit).map { member in
            (id: member.id, name: rooms.directory.place(of: member.id)?.name, turn: member.turn?.rawValue)
        }
        receiver.socket.send(SkyRTCReply(turns: list).text)
    }
}
