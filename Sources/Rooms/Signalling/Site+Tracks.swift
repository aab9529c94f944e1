import CGLib
import Rooms

/// The tracks of the rooms. They can be added and removed at any time, and viewers are told.
extension Site {
    /// Adds a track to an existing room. An existing track of the same name is left as it is.
    func addTrack(_ track: TrackName, media: any RoomMedia, to room: String) {
        let address = TrackAddress(room: room, track: track)
        guard rooms[address] == nil else { return log("room \(room): it has a track \(track) already") }
        for action in rooms.add(media, as: address) { carryOut(action) }
        guard rooms[address] != nil else { return log("room \(room): the track \(track) can't be added") }
        pointers.trackAdded(to: room)
        socketIO.tracksChanged(in: room)
    }

    /// Ends a track and all sessions for it.
    func removeTrack(_ track: TrackName, from room: String) {
        let address = TrackAddress(room: room, track: track)
        guard rooms[address] != nil else { return }
        for (name, session) in playerSessions where session.room == room && session.track == track {
            endPlayer(name, session)
        }
        for action in rooms.remove(address) { carryOut(action) }
        pointers.trackRemoved(address)
        socketIO.tracksChanged(in: room)
        // The next track may now be the first.
        countAudience(of: room)
    }

    /// Tells the viewers of `room` the state of a track's source.
    func announce(_ state: SourceState, _ message: String, in room: String, track: TrackName?) {
        guard let address = rooms.address(of: track, in: room), rooms.set(state, message, of: address) else { return }
        let whose = rooms.label(of: address).map { "the source of \($0)" } ?? "the source"
        log("room \(room): \(whose) is \(state.rawValue)")
        if let reply = stateReply(of: address) { members.tellViewers(of: room, reply.text) }
    }

    /// What viewers are told of the state of a track's source.
    private func stateReply(of address: TrackAddress) -> SkyRTCReply? {
        rooms[address].map { shared in
            SkyRTCReply(
                shared.state, shared.message, microseconds: g_get_monotonic_time() - shared.since,
                track: rooms.label(of: address))
        }
    }

    /// Tells a new member the states of the sources of its room's tracks.
    func tellStates(to member: RoomMember, in room: String) {
        let replies = rooms.addresses(in: room).compactMap { stateReply(of: $0) }
        for reply in replies { member.socket.send(reply.text) }
        if replies.isEmpty {
            let reply = SkyRTCReply(.waiting, "", microseconds: g_get_monotonic_time() - startTime)
            member.socket.send(reply.text)
        }
    }

    /// Tells the viewers of `room` which tracks exist.
    func tellTracks(in room: String) {
        members.tellViewers(of: room, SkyRTCReply(tracks: rooms.summaries(of: room)).text)
    }
}
