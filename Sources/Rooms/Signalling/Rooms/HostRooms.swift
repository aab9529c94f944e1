import Clocks
import MediaSessions
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
    /// The state of its source.
    var state = SourceState.waiting
    /// The time at which that state began.
    var since = MonotonicTime.now()
    /// Whether it can be heard.
    var sound = AudioState.none
    /// What else is said of it.
    var tag = TrackTag()
}

/// The host's rooms: their members, in a `RoomDirectory` and by their WebSockets, and the media layers of their tracks.
/// All parts of the site read them; only `SkyRTCRooms` changes them, except for the access rules.
final class HostRooms {
    private(set) var directory: RoomDirectory
    /// The clients with an open WebSocket, in a room or not, and viewers whose WebSocket has just broken off.
    private(set) var members: [MemberID: RoomMember] = [:]
    private var tracks: [TrackAddress: SharedTrack] = [:]

    init(_ configuration: SignallingConfiguration) {
        directory = RoomDirectory(
            configuration.rooms.map { room in
                RoomDefinition(name: room.name, access: room.access.policy, host: MemberID(newIdentifier()))
            }, memberLimit: configuration.limits.membersInRoom)
    }

    /// Passes an event to the directory. Returns the actions to perform.
    func handle(_ event: RoomEvent) -> [RoomAction] { directory.handle(event) }

    /// Replaces the access rules of a room, whose members stay.
    func use(_ access: RoomAccess, for room: String) { directory.use(access.policy, for: room) }

    /// Sets the time of the rooms' clock, in seconds. Returns the actions to perform.
    func advance(to now: Int) -> [RoomAction] { directory.advance(to: now) }

    subscript(id: MemberID) -> RoomMember? {
        get { members[id] }
        set { members[id] = newValue }
    }

    /// The members who watch `room` with our page.
    func viewers(in room: String) -> [RoomMember] {
        directory.viewers(in: room).compactMap { members[$0] }
    }

    /// Sends a message to all who watch `room` with our page.
    func tellViewers(of room: String, _ text: String) {
        let frame = WebSocketFrame.text(text)
        for viewer in viewers(in: room) { viewer.socket.send(frame: frame) }
    }

    subscript(address: TrackAddress) -> SharedTrack? { tracks[address] }

    /// The address and media layer of `track` or, if that is nil, of the room's first track.
    func media(
        of track: TrackName?, in room: String
    ) throws(MediaSessionError) -> (address: TrackAddress, media: any RoomMedia) {
        guard let address = address(of: track, in: room), let shared = tracks[address] else {
            throw .unsupported("nothing is shared in this room now")
        }
        return (address, shared.media)
    }

    /// The address of `track` or, if that is nil, of the room's first track; nil if the room has no track.
    func address(of track: TrackName?, in room: String) -> TrackAddress? {
        (track ?? directory.tracks(in: room).first).map { TrackAddress(room: room, track: $0) }
    }

    /// The addresses of a room's tracks, in the order in which they were added.
    func addresses(in room: String) -> [TrackAddress] {
        directory.tracks(in: room).map { TrackAddress(room: room, track: $0) }
    }

    /// The track's name for use in messages; nil if the room has never had more than one track.
    func label(of address: TrackAddress) -> TrackName? {
        directory.namesTracks(in: address.room) ? address.track : nil
    }

    /// The tracks of a room, as described to clients.
    func summaries(of room: String) -> [TrackSummary] {
        addresses(in: room).map { address in
            let track = tracks[address]
            return TrackSummary(
                name: address.track.text, source: (track?.state ?? .waiting).word, text: track?.tag.text,
                data: track?.tag.data)
        }
    }

    /// Adds a track, unless its room is unknown or has too many. Returns the actions to perform.
    func add(_ media: any RoomMedia, as address: TrackAddress) -> [RoomAction] {
        let actions = directory.handle(.addTrack(address.track, room: address.room))
        if directory.tracks(in: address.room).contains(address.track) { tracks[address] = SharedTrack(media: media) }
        return actions
    }

    /// Removes a track. Returns the actions to perform.
    func remove(_ address: TrackAddress) -> [RoomAction] {
        tracks[address] = nil
        return directory.handle(
            .removeTrack(address.track, room: address.room, reason: "this track has been removed; look at another one"))
    }

    /// Records the state of a track's source. Returns false if nothing has changed.
    func set(_ state: SourceState, of address: TrackAddress) -> Bool {
        guard let shared = tracks[address],
            shared.state.word != state.word || shared.state.message != state.message
        else { return false }
        if shared.state.word != state.word { tracks[address]?.since = .now() }
        tracks[address]?.state = state
        return true
    }

    /// Records a track's tag. Returns false if nothing has changed.
    func set(_ tag: TrackTag, of address: TrackAddress) -> Bool {
        guard let shared = tracks[address], shared.tag != tag else { return false }
        tracks[address]?.tag = tag
        return true
    }

    /// Records whether a track can be heard. Returns false if nothing has changed.
    func set(_ sound: AudioState, of address: TrackAddress) -> Bool {
        guard let shared = tracks[address], shared.sound != sound else { return false }
        tracks[address]?.sound = sound
        return true
    }
}
