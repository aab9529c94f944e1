import CGLib
import Rooms

/// Names a track of the host.
struct TrackAddress: Hashable {
    let room: String
    let track: TrackName
}

/// A track that rooms' viewers can watch.
struct SharedTrack {
    let media: any RoomMedia
    /// What its source does, and since when (g_get_monotonic_time).
    var state = SourceState.waiting
    var message = ""
    var since: Int
    var pointer = RoomPointer()
    /// A decision about the pointer that had to wait.
    var pointerDecision: EventSource?
}

/// The media sides of the tracks that there are.
struct MediaSides {
    fileprivate let site: Site

    /// The one of a room's first track.
    subscript(room: String) -> (any RoomMedia)? { self[room, nil] }

    /// The one of that track, or of the room's first.
    subscript(room: String, track: TrackName?) -> (any RoomMedia)? {
        guard let address = site.address(of: track, in: room) else { return nil }
        return site.tracks[address]?.media
    }
}

/// The tracks of the rooms: they come and go while viewers watch, and viewers are told.
extension Site {
    /// The media side of each track, by room and name.
    var media: MediaSides { MediaSides(site: self) }

    /// Adds a track to a room that is there; one of the same name stays as it is.
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

    /// Ends a track and everybody's session of it.
    func removeTrack(_ track: TrackName, from room: String) {
        let address = TrackAddress(room: room, track: track)
        guard tracks[address] != nil else { return }
        for (name, session) in playerSessions where session.room == room && session.track == track {
            endPlayer(name, session)
        }
        handle(.removeTrack(track, room: room, reason: "this track is shared no more"))
        tracks[address] = nil
        socketIO.tracksChanged(in: room)
        // The next one may be first now.
        countAudience(of: room)
    }

    /// Tells the viewers of `room` what the source of a track is doing.
    func announce(_ state: SourceState, _ message: String, in room: String, track: TrackName?) {
        guard let address = address(of: track, in: room), var shared = tracks[address],
            shared.state != state || shared.message != message
        else { return }
        let now = g_get_monotonic_time()
        if shared.state != state { shared.since = now }
        shared.state = state
        shared.message = message
        tracks[address] = shared
        let label = label(of: address)
        log("room \(room): \(label.map { "the source of \($0)" } ?? "the source") is \(state.rawValue)")
        let frame = WebSocketFrame.text(
            SkyRTCReply(state, message, microseconds: now - shared.since, track: label).text)
        for viewer in directory.viewers(in: room) { members[viewer]?.socket.send(frame: frame) }
    }

    /// Tells who has joined what the sources of its room's tracks are doing.
    func tellStates(to member: RoomMember, in room: String) {
        let now = g_get_monotonic_time()
        let names = directory.tracks(in: room)
        for track in names {
            let address = TrackAddress(room: room, track: track)
            guard let shared = tracks[address] else { continue }
            let reply = SkyRTCReply(
                shared.state, shared.message, microseconds: now - shared.since, track: label(of: address))
            member.socket.send(reply.text)
        }
        if names.isEmpty { member.socket.send(SkyRTCReply(.waiting, "", microseconds: now - startTime).text) }
    }

    /// Tells the viewers of `room` what there is to watch.
    func tellTracks(in room: String) {
        let frame = WebSocketFrame.text(SkyRTCReply(tracks: summaries(of: room)).text)
        for viewer in directory.viewers(in: room) { members[viewer]?.socket.send(frame: frame) }
    }

    /// The tracks of a room as clients are told of them.
    func summaries(of room: String) -> [TrackSummary] {
        directory.tracks(in: room).map { track in
            TrackSummary(name: track, state: tracks[TrackAddress(room: room, track: track)]?.state ?? .waiting)
        }
    }

    /// The address of that track, or of the room's first; nil where there is none.
    func address(of track: TrackName?, in room: String) -> TrackAddress? {
        (track ?? directory.tracks(in: room).first).map { TrackAddress(room: room, track: $0) }
    }

    /// What messages about a track call it; nil where the room has never had more than one.
    func label(of address: TrackAddress) -> TrackName? {
        directory.namesTracks(in: address.room) ? address.track : nil
    }
}
