import CGLib
import MediaTypes
import Rooms

/// Identifies a track of the host.
struct TrackAddress: Hashable {
    let room: String
    let track: TrackName
}

/// A track that the viewers of its room can watch.
struct SharedTrack {
    let media: any RoomMedia
    /// The state of its source, and the start of that state (g_get_monotonic_time).
    var state = SourceState.waiting
    var since: Int
    var pointer = RoomPointer()
    /// The timer for a postponed decision about the pointer.
    var pointerDecision: EventSource?
}

/// The media layers of the existing tracks.
struct MediaSides {
    fileprivate let site: Site

    /// The media layer of the room's first track.
    subscript(room: String) -> (any RoomMedia)? { self[room, nil] }

    /// The media layer of that track, or of the room's first.
    subscript(room: String, track: TrackName?) -> (any RoomMedia)? {
        guard let address = site.address(of: track, in: room) else { return nil }
        return site.tracks[address]?.media
    }
}

/// The tracks of the rooms. They can be added and removed at any time, and viewers are told.
extension Site {
    /// The media layer of each track, by room and name.
    var media: MediaSides { MediaSides(site: self) }

    /// Adds a track to an existing room. An existing track of the same name is left as it is.
    func addTrack(_ track: TrackName, media: any RoomMedia, to room: String) {
        let address = TrackAddress(room: room, track: track)
        guard tracks[address] == nil else { return log("room \(room): it has a track \(track) already") }
        tracks[address] = SharedTrack(media: media, since: g_get_monotonic_time())
        handle(.addTrack(track, room: room))
        guard directory.tracks(in: room).contains(track) else {
            tracks[address] = nil
            return log("room \(room): the track \(track) can't be added")
        }
        labelPointers(of: room)
        decidePointers(of: room)
        socketIO.tracksChanged(in: room)
    }

    /// Ends a track and all sessions for it.
    func removeTrack(_ track: TrackName, from room: String) {
        let address = TrackAddress(room: room, track: track)
        guard tracks[address] != nil else { return }
        for (name, session) in playerSessions where session.room == room && session.track == track {
            endPlayer(name, session)
        }
        handle(.removeTrack(track, room: room, reason: "this track is shared no more"))
        tracks[address] = nil
        socketIO.tracksChanged(in: room)
        // The next track may now be the first.
        countAudience(of: room)
    }

    /// Tells the viewers of `room` the state of a track's source.
    func announce(_ state: SourceState, in room: String, track: TrackName?) {
        guard let address = address(of: track, in: room), var shared = tracks[address],
            shared.state.word != state.word || shared.state.message != state.message
        else { return }
        let now = g_get_monotonic_time()
        if shared.state.word != state.word { shared.since = now }
        shared.state = state
        tracks[address] = shared
        let label = label(of: address)
        log("room \(room): \(label.map { "the source of \($0)" } ?? "the source") is \(state.word)")
        let frame = WebSocketFrame.text(SkyRTCReply(state, microseconds: now - shared.since, track: label).text)
        for viewer in directory.viewers(in: room) { members[viewer]?.socket.send(frame: frame) }
    }

    /// Tells a new member the states of the sources of its room's tracks.
    func tellStates(to member: RoomMember, in room: String) {
        let now = g_get_monotonic_time()
        let names = directory.tracks(in: room)
        for track in names {
            let address = TrackAddress(room: room, track: track)
            guard let shared = tracks[address] else { continue }
            let reply = SkyRTCReply(shared.state, microseconds: now - shared.since, track: label(of: address))
            member.socket.send(reply.text)
        }
        if names.isEmpty { member.socket.send(SkyRTCReply(.waiting, microseconds: now - startTime).text) }
    }

    /// Tells the viewers of `room` which tracks exist.
    func tellTracks(in room: String) {
        let frame = WebSocketFrame.text(SkyRTCReply(tracks: summaries(of: room)).text)
        for viewer in directory.viewers(in: room) { members[viewer]?.socket.send(frame: frame) }
    }

    /// The tracks of a room, as described to clients.
    func summaries(of room: String) -> [TrackSummary] {
        directory.tracks(in: room).map { track in
            TrackSummary(name: track, state: tracks[TrackAddress(room: room, track: track)]?.state ?? .waiting)
        }
    }

    /// The address of that track, or of the room's first; nil if there is none.
    func address(of track: TrackName?, in room: String) -> TrackAddress? {
        (track ?? directory.tracks(in: room).first).map { TrackAddress(room: room, track: $0) }
    }

    /// The track's name in messages; nil if the room has never had more than one.
    func label(of address: TrackAddress) -> TrackName? {
        directory.namesTracks(in: address.room) ? address.track : nil
    }
}
