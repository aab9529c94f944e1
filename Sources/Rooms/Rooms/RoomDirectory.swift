/// The rooms of a host, their tracks and who is in them: SkyRTC's rules, with the host as one member of every room.
///
/// A core: typed events in, actions out; no thread, no clock, no I/O. Identifiers are handed in. Who comes as a plain
/// SkyRTC client (`MemberRole.peer`) is in the room's mesh: it sees the host and the others of the mesh, and they see it. Who
/// comes as a viewer (our page, in thousands) sees the host alone, so that a join costs the same however many watch; it may
/// come into the mesh and leave that again (`RoomEvent.meet`). With the host a member has at most one session a track.
public struct RoomDirectory: Sendable {
    struct Room: Sendable {
        let definition: RoomDefinition
        /// In the order they came; the first is meant where a client names none.
        var tracks: [TrackName] = []
        /// What the room's first track ever was called.
        var firstTrack: TrackName?
        /// Whether messages name the track: there are, or have been, several.
        var namesTracks = false
        /// Plain clients, and viewers that meet, in the order they came into the mesh.
        var mesh: [MemberID] = []
        var peers: Set<MemberID> = []
        var viewers: Set<MemberID> = []
        /// Everybody, and everybody with a name.
        var arrivals = Arrivals()
        var namedArrivals = Arrivals()
        var pendingOffers = PendingOffers()
    }

    struct Membership: Sendable {
        let room: Int
        let role: MemberRole
        let name: String?
        /// Above those of all who came before, in whatever room.
        let number: UInt64
        /// Whether it is in its room's mesh.
        var isMeeting: Bool
        /// The tracks of which the shell was told to open a media session that hasn't ended since.
        var sessions: Set<TrackName> = []
    }

    /// The most tracks of one room.
    public static let trackLimit = 16

    var rooms: [Room]
    var memberships: [MemberID: Membership] = [:]
    let peerLimit: Int
    private let memberLimit: Int
    /// What time it is, in seconds, as `advance(to:)` has said.
    private var now = 0
    private var lastNumber: UInt64 = 0

    /// Events that named no room, no member or nobody to send to, and so did nothing.
    public internal(set) var ignoredEvents = 0

    /// A directory of `rooms`, the first of which is meant where a client names none; they have no tracks yet. A room takes
    /// `memberLimit` members, and its mesh `peerLimit`: each newcomer is announced to all of them, and a mesh of more can't
    /// work anyway.
    public init(_ rooms: [RoomDefinition], peerLimit: Int = 32, memberLimit: Int = .max) {
        self.rooms = rooms.map { Room(definition: $0) }
        self.peerLimit = peerLimit
        self.memberLimit = memberLimit
    }

    /// Takes one event and says what is to be done, in order.
    public mutating func handle(_ event: RoomEvent) -> [RoomAction] {
        switch event {
        case .join(let member, let key, let role, let name): join(member, key, role, name)
        case .leave(let member): leave(member)
        case .meet(let member, let isWanted): isWanted ? meet(member) : stopMeeting(member)
        case .offer(let member, let target, let sdp, let track): offer(from: member, to: target, sdp, track)
        case .answer(let member, let target, let sdp): answer(from: member, to: target, sdp)
        case .candidate(let member, let target, let candidate, let track):
            self.candidate(from: member, to: target, candidate, track)
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

    /// The room that `key` opens, or nil: whether the room or the token was wrong can't be told, by time either.
    public func room(openedBy key: RoomKey) -> RoomDefinition? {
        index(openedBy: key).map { rooms[$0].definition }
    }

    /// What `key` is good for, and the room that it opens, where it opens one.
    public func grant(to key: RoomKey) -> (grant: AccessGrant, room: RoomDefinition?) {
        let (grant, index) = lookUp(key)
        return (grant, index.map { rooms[$0].definition })
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
        // Who joins again moves: the original server left a ghost behind.
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
        // Those who are there hear of the newcomer before it hears of them, and the newcomer offers. The host is named
        // last because SkyRTC's iOS client calls only the last of the list.
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

    private func index(openedBy key: RoomKey) -> Int? {
        lookUp(key).index
    }

    /// The index is nil where the grant lets nobody in.
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
    /// Says that it is `now`, in seconds of the clock that the rooms' expiry is told by. Who is in a room whose time is over is
    /// sent away.
    public mutating func advance(to now: Int) -> [RoomAction] {
        self.now = now
        var actions: [RoomAction] = []
        for room in rooms where room.definition.access.isExpired(at: now) {
            for member in room.arrivals.members { actions += leave(member) + [.refuse(member, .expired)] }
        }
        return actions
    }

    /// Whether the time of the room called `name` is over.
    public func hasExpired(_ name: String) -> Bool {
        rooms.first { $0.definition.name == name }?.definition.access.isExpired(at: now) ?? false
    }
}
