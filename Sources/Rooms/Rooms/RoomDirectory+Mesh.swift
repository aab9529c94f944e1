// The mesh of a room: its members, and the messages that the server relays between them.

extension RoomDirectory {
    mutating func meet(_ member: MemberID) -> [RoomAction] {
        guard let membership = memberships[member], !membership.isMeeting else { return ignored() }
        let others = rooms[membership.room].mesh
        guard others.count < peerLimit else {
            return [.send(.notMeeting(reason: "the meeting is full"), to: member)]
        }
        memberships[member]?.isMeeting = true
        rooms[membership.room].mesh.append(member)
        // As in a join: the existing members are told first, and the newcomer offers.
        return others.map { .send(.newPeer(member, name: membership.name), to: $0) }
            + [.send(.meeting(others.compactMap(person)), to: member)]
    }

    mutating func stopMeeting(_ member: MemberID) -> [RoomAction] {
        // A plain client is always in the mesh.
        guard let membership = memberships[member], membership.role == .viewer, membership.isMeeting else {
            return ignored()
        }
        return leaveMesh(member) + [.send(.notMeeting(reason: nil), to: member)]
    }

    /// Removes the member from its room's mesh, if it is there, and notifies the remaining members.
    mutating func leaveMesh(_ member: MemberID) -> [RoomAction] {
        guard let membership = memberships[member], membership.isMeeting else { return [] }
        memberships[member]?.isMeeting = false
        rooms[membership.room].mesh.removeAll { $0 == member }
        rooms[membership.room].pendingOffers.forget(member)
        return rooms[membership.room].mesh.map { .send(.removePeer(member), to: $0) }
    }

    mutating func relayOffer(from member: MemberID, to target: MemberID, _ sdp: String) -> [RoomAction] {
        guard let room = mesh(of: member, and: target) else { return ignored() }
        let isLater = isLater(member, than: target, in: room)
        // An offer that gives way doesn't count as ignored: its sender has another one to answer.
        guard rooms[room].pendingOffers.offer(from: member, to: target, isLater: isLater) else { return [] }
        return [.send(.offer(sdp: sdp, from: member), to: target)]
    }

    mutating func answer(from member: MemberID, to target: MemberID, _ sdp: String) -> [RoomAction] {
        guard let room = mesh(of: member, and: target) else { return ignored() }
        guard rooms[room].pendingOffers.answer(from: member, to: target) else { return ignored() }
        return [.send(.answer(sdp: sdp, from: member), to: target)]
    }

    mutating func relayCandidate(
        from member: MemberID, to target: MemberID, _ candidate: ICECandidate
    ) -> [RoomAction] {
        guard mesh(of: member, and: target) != nil else { return ignored() }
        return [.send(.candidate(candidate, from: member), to: target)]
    }

    /// Returns the room if both are in its mesh.
    private func mesh(of member: MemberID, and target: MemberID) -> Int? {
        guard let sender = memberships[member], let receiver = memberships[target], member != target,
            sender.room == receiver.room, sender.isMeeting, receiver.isMeeting
        else { return nil }
        return sender.room
    }

    /// Whether `member` joined the mesh after `other`.
    private func isLater(_ member: MemberID, than other: MemberID, in room: Int) -> Bool {
        rooms[room].mesh.first { $0 == member || $0 == other } == other
    }
}
