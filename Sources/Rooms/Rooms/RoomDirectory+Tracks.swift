// The tracks of a room, and the sessions between its members and the host.

extension RoomDirectory {
    mutating func addTrack(_ track: TrackName, _ name: String) -> [RoomAction] {
        guard let room = index(of: name), !rooms[room].tracks.contains(track),
            rooms[room].tracks.count < Self.trackLimit
        else { return ignored() }
        rooms[room].tracks.append(track)
        let first = rooms[room].firstTrack ?? track
        rooms[room].firstTrack = first
        // Once tracks are named, they stay named: clients rely on the names that they were told.
        if first != track { rooms[room].namesTracks = true }
        return [.tracksChanged(room: name)]
    }

    mutating func removeTrack(_ track: TrackName, _ name: String, _ reason: String) -> [RoomAction] {
        guard let room = index(of: name), rooms[room].tracks.contains(track) else { return ignored() }
        var actions: [RoomAction] = []
        for member in rooms[room].arrivals.members where memberships[member]?.sessions.contains(track) == true {
            actions.append(.closeSession(member, track: track))
            actions += sessionIsOver(member, track) { .sessionEnded(host: $0, reason: reason, track: $1) }
        }
        rooms[room].tracks.removeAll { $0 == track }
        return actions + [.tracksChanged(room: name)]
    }

    mutating func offer(
        from member: MemberID, to target: MemberID, _ sdp: String, _ track: TrackName?
    ) -> [RoomAction] {
        guard let membership = memberships[member] else { return ignored() }
        let definition = rooms[membership.room].definition
        guard target.isHost(definition.host) else { return relayOffer(from: member, to: target, sdp) }
        return open(track, for: member, in: membership.room) {
            .openSession(member, room: definition.name, track: $0, offer: sdp)
        }
    }

    mutating func frames(_ member: MemberID, _ track: TrackName?) -> [RoomAction] {
        guard let membership = memberships[member] else { return ignored() }
        let name = rooms[membership.room].definition.name
        return open(track, for: member, in: membership.room) { .openFrames(member, room: name, track: $0) }
    }

    /// Opens a member's session with the host by `action`.
    private mutating func open(
        _ track: TrackName?, for member: MemberID, in room: Int, by action: (TrackName) -> RoomAction
    ) -> [RoomAction] {
        guard let meant = self.track(track, in: room) else {
            let reason = track == nil ? "nothing is shared in this room now" : "this room has no track of that name"
            let host = rooms[room].definition.host
            return [.send(.offerRefused(host: host, reason: reason, track: track), to: member)]
        }
        // The host never offers, so there is no glare with it. A second offer is a new start.
        let isOpen = memberships[member]?.sessions.insert(meant).inserted == false
        return isOpen ? [.closeSession(member, track: meant), action(meant)] : [action(meant)]
    }

    mutating func candidate(
        from member: MemberID, to target: MemberID, _ candidate: ICECandidate, _ track: TrackName?
    ) -> [RoomAction] {
        guard let membership = memberships[member] else { return ignored() }
        guard target.isHost(rooms[membership.room].definition.host) else {
            return relayCandidate(from: member, to: target, candidate)
        }
        guard let meant = self.track(track, in: membership.room), membership.sessions.contains(meant) else {
            return ignored()
        }
        return [.addCandidate(member, candidate, track: meant)]
    }

    mutating func setPlayoutDelay(of member: MemberID, _ milliseconds: Int, _ track: TrackName?) -> [RoomAction] {
        guard let membership = memberships[member], let meant = self.track(track, in: membership.room),
            membership.sessions.contains(meant)
        else { return ignored() }
        return [.setPlayoutDelay(member, milliseconds: max(0, min(milliseconds, 500)), track: meant)]
    }

    mutating func unwatch(_ member: MemberID, _ track: TrackName?) -> [RoomAction] {
        guard let membership = memberships[member], let meant = self.track(track, in: membership.room),
            memberships[member]?.sessions.remove(meant) != nil
        else { return ignored() }
        return [.closeSession(member, track: meant)]
    }

    mutating func sessionAnswered(_ member: MemberID, _ track: TrackName, _ sdp: String) -> [RoomAction] {
        guard let membership = memberships[member], membership.sessions.contains(track) else { return ignored() }
        let room = membership.room
        let name = rooms[room].namesTracks ? track : nil
        return [.send(.answer(sdp: sdp, from: rooms[room].definition.host, track: name), to: member)]
    }

    mutating func sessionIsOver(
        _ member: MemberID, _ track: TrackName, _ message: (_ host: MemberID, _ track: TrackName?) -> RoomMessage
    ) -> [RoomAction] {
        guard let room = memberships[member]?.room, memberships[member]?.sessions.remove(track) != nil else {
            return []
        }
        let name = rooms[room].namesTracks ? track : nil
        return [.send(message(rooms[room].definition.host, name), to: member)]
    }

    /// Returns the track that a client means.
    private func track(_ track: TrackName?, in room: Int) -> TrackName? {
        guard let track else { return rooms[room].tracks.first }
        return rooms[room].tracks.contains(track) ? track : nil
    }
}

extension MemberID {
    /// Whether a message to this receiver is for the host. A client that doesn't know the host's ID yet leaves it
    /// empty.
    fileprivate func isHost(_ host: MemberID) -> Bool { self == host || text.isEmpty }
}
