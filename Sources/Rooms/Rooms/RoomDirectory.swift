/// The rooms of a host, with their tracks and members. It follows SkyRTC's rules, and the host is a member of every
/// room.
///
/// A pure core: typed events in, actions out; no thread, no clock, no I/O. The caller supplies the identifiers. A plain
/// SkyRTC client (`MemberRole.peer`) is in the room's mesh: it sees the host and the others in the mesh, and they see
/// it. A viewer (our page, of which there can be thousands) sees only the host, so the cost of a join doesn't depend on
/// the number of viewers. A viewer may join and leave the mesh (`RoomEvent.meet`). A member has at most one session
/// with the host for each track.
public struct RoomDirectory: Sendable {
    struct Room: Sendable {
        var definition: RoomDefinition
        /// In the order in which they were added. The first is meant if a client names none.
        var tracks: [TrackName] = []
        /// The name of the first track that the room ever had.
        var firstTrack: TrackName?
        /// Whether messages name the track, because there are or have been several.
        var namesTracks = false
        /// Plain clients, and viewers in the meeting, in the order in which they joined the mesh.
        var mesh: [MemberID] = []
        var peers: Set<MemberID> = []
        var viewers: Set<MemberID> = []
        /// All members, and all members that have a name.
        var arrivals = Arrivals()
        var namedArrivals = Arrivals()
        var pendingOffers = PendingOffers()
    }

    struct Membership: Sendable {
        let room: Int
        let role: MemberRole
        let name: String?
        /// Greater than the numbers of all members that joined any room before.
        let number: UInt64
        /// Whether the member is in its room's mesh.
        var isMeeting: Bool
        /// The tracks with an open media session: the shell was asked to open one, and it hasn't ended.
        var sessions: Set<TrackName> = []
    }

    /// The largest number of tracks in a room.
    public static let trackLimit = 16

    var rooms: [Room]
    var memberships: [MemberID: Membership] = [:]
    let peerLimit: Int
    private let memberLimit: Int
    /// The current time in seconds, as last given to `advance(to:)`.
    private var now = 0
    private var lastNumber: UInt64 = 0

    /// The number of events that were ignored, because their room, member or receiver doesn't exist.
    public internal(set) var ignoredEvents = 0

    /// Creates a directory of `rooms`, which have no tracks yet. The first room is meant if a client names none. A room
    /// takes at most `memberLimit` members, and its mesh at most `peerLimit`: each newcomer to the mesh is announced to
    /// all of it, and a larger mesh doesn't work anyway.
    public init(_ rooms: [RoomDefinition], peerLimit: Int = 32, memberLimit: Int = .max) {
        self.rooms = rooms.map { Room(definition: $0) }
        self.peerLimit = peerLimit
        self.memberLimit = memberLimit
    }

    /// Processes one event and returns the actions to perform, in order.
    public mutating func handle(_ event: RoomEvent) -> [RoomAction] {
        switch event {
        case .join(let member, let key, let role, let name): join(member, key, role, name)
        case .leave(let member): leave(member)
        case .meet(let member, let isWanted): isWanted ? meet(member) : stopMeeting(member)
        case .offer(let member, let target, let sdp, let track): offer(from: member, to: target, sdp, track)
        case .frames(let member, let track): frames(member, track)
        case .answer(let member, let target, let sdp): answer(from: member, to: target, sdp)
        case .candidate(let member, let target, let candidate, let track):
            self.candidate(from: member, to: target, candidate, track)
        case .setPlayoutDelay(let member, let milliseconds, let track): setPlayoutDelay(of: member, milliseconds, track)
        case .unwatch(let member, let track): unwatch(member, track)
        case .sessionAnswered(let member, let track, let sdp): sessionAnswered(member, track, sdp)
        case .sessionRefused(let member, let track, let reason):
            sessionIsOver(member, track) { .offerRefused(host: $0, reason: reason, track: $1) }
        case .sessionEnded(let member, let track, let reason):
            sessionIsOver(member, track) { .sessionEnded(host: $0, reason: reason, track: $1) }
        case .addTrack(let track, let room): addTrack(track, room)
        case .removeTrack(let track, let room, let reason): removeTrack(track, room, reason)
        case .unknown: ignored()
        }
    }

    /// Returns the access that `key` grants, and the room that it opens, if any. The caller can't tell whether the room
    /// or the token was wrong, not even from the time this takes.
    public func grant(to key: RoomKey) -> (grant: AccessGrant, room: RoomDefinition?) {
        let (grant, index) = lookUp(key)
        return (grant, index.map { rooms[$0].definition })
    }

    /// Replaces the access rules of a room. Its members stay. Does nothing if there is no such room.
    public mutating func use(_ access: AccessPolicy, for room: String) {
        if let index = index(of: room) { rooms[index].definition.access = access }
    }

    mutating func ignored() -> [RoomAction] {
        ignoredEvents &+= 1
        return []
    }
}

// MARK: - Coming and going

extension RoomDirectory {
    private mutating func join(
        _ member: MemberID, _ key: RoomKey, _ role: MemberRole, _ name: String?
    ) -> [RoomAction] {
        // A member that joins again moves. The original server left a ghost entry behind.
        var actions = leave(member)
        let (grant, found) = lookUp(key)
        guard let index = found else {
            return actions + [.refuse(member, grant == .needsPassword ? .needsPassword : .notAdmitted)]
        }
        let definition = rooms[index].definition
        let others = role == .peer ? rooms[index].mesh : []
        let count = rooms[index].peers.count + rooms[index].viewers.count
        if role == .peer && others.count >= peerLimit || count >= memberLimit {
            return actions + [.refuse(member, .full)]
        }
        let name = name.flatMap(MemberName.clean)
        lastNumber += 1
        memberships[member] = Membership(
            room: index, role: role, name: name, number: lastNumber, isMeeting: role == .peer)
        rooms[index].arrivals.append(member, number: lastNumber)
        if name != nil { rooms[index].namedArrivals.append(member, number: lastNumber) }
        switch role {
        case .peer:
            rooms[index].peers.insert(member)
            rooms[index].mesh.append(member)
        case .viewer: rooms[index].viewers.insert(member)
        }
        // The existing members are notified of the newcomer before it is notified of them, and the newcomer offers. The
        // host is last because SkyRTC's iOS client calls only the last of the list.
        actions += others.map { .send(.newPeer(member, name: name), to: $0) }
        actions.append(
            .send(.peers(connections: others + [definition.host], you: member, host: definition.host), to: member))
        actions.append(.joined(member, room: definition.name, role))
        return actions
    }

    private mutating func leave(_ member: MemberID) -> [RoomAction] {
        guard let membership = memberships[member] else { return [] }
        let index = membership.room
        var actions: [RoomAction] = rooms[index].tracks.filter(membership.sessions.contains).map {
            .closeSession(member, track: $0)
        }
        actions += leaveMesh(member)
        memberships[member] = nil
        rooms[index].arrivals.remove(membership.number)
        rooms[index].namedArrivals.remove(membership.number)
        rooms[index].peers.remove(member)
        rooms[index].viewers.remove(member)
        return actions
    }

    /// The index is nil if the grant doesn't let the client in.
    private func lookUp(_ key: RoomKey) -> (grant: AccessGrant, index: Int?) {
        let found = key.room.isEmpty ? rooms.indices.first : rooms.firstIndex { $0.definition.name == key.room }
        let access = found.map { rooms[$0].definition.access } ?? .decoy
        let grant = access.grant(token: key.token, password: key.password, now: now)
        switch grant {
        case .refused, .needsPassword: return (grant, nil)
        case .viewing, .presenting: return (grant, found)
        }
    }
}

// MARK: - Time

extension RoomDirectory {
    /// Sets the current time, in seconds of the clock that the rooms' expiry times refer to. Members of expired rooms
    /// are removed.
    public mutating func advance(to now: Int) -> [RoomAction] {
        self.now = now
        var actions: [RoomAction] = []
        for room in rooms where room.definition.access.isExpired(at: now) {
            for member in room.arrivals.members { actions += leave(member) + [.refuse(member, .expired)] }
        }
        return actions
    }

    /// Whether the room called `name` has expired.
    public func hasExpired(_ name: String) -> Bool {
        rooms.first { $0.definition.name == name }?.definition.access.isExpired(at: now) ?? false
    }
}
