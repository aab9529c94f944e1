/// The rooms of a host and who is in them: SkyRTC's rules, with the host as one member of every room.
///
/// A core: typed events in, actions out; no thread, no clock, no I/O. Identifiers are handed in. Who comes as a plain
/// SkyRTC client (`MemberRole.peer`) sees the host and the other peers, and they see it; who comes as a viewer (our page,
/// in thousands) sees the host alone, so that a join costs the same however many watch.
public struct RoomDirectory: Sendable {
    private struct Room: Sendable {
        let definition: RoomDefinition
        /// Plain clients in the order they came.
        var peers: [MemberID] = []
        var viewers: Set<MemberID> = []
    }

    private struct Membership: Sendable {
        let room: Int
        let role: MemberRole
        /// Whether the shell was told to open a media session that hasn't ended since.
        var hasSession = false
    }

    private var rooms: [Room]
    private var memberships: [MemberID: Membership] = [:]
    private let peerLimit: Int
    private let memberLimit: Int
    /// What time it is, in seconds, as `advance(to:)` has said.
    private var now = 0

    /// Events that named no room, no member or nobody to send to, and so did nothing.
    public private(set) var ignoredEvents = 0

    /// A directory of `rooms`, the first of which is meant where a client names none. A room takes `memberLimit` members, and
    /// `peerLimit` plain clients: each newcomer is announced to all of them, and a mesh of more can't work anyway.
    public init(_ rooms: [RoomDefinition], peerLimit: Int = 32, memberLimit: Int = .max) {
        self.rooms = rooms.map { Room(definition: $0) }
        self.peerLimit = peerLimit
        self.memberLimit = memberLimit
    }

    /// Takes one event and says what is to be done, in order.
    public mutating func handle(_ event: RoomEvent) -> [RoomAction] {
        switch event {
        case .join(let member, let key, let role): join(member, key, role)
        case .leave(let member): leave(member)
        case .offer(let member, let target, let sdp): offer(from: member, to: target, sdp: sdp)
        case .answer(let member, let target, let sdp):
            relay(from: member, to: target, .answer(sdp: sdp, from: member))
        case .candidate(let member, let target, let candidate):
            self.candidate(from: member, to: target, candidate)
        case .sessionAnswered(let member, let sdp): sessionAnswered(member, sdp)
        case .sessionRefused(let member, let reason):
            sessionIsOver(member) { .offerRefused(host: $0, reason: reason) }
        case .sessionEnded(let member, let reason):
            sessionIsOver(member) { .sessionEnded(host: $0, reason: reason) }
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

    /// How many are in the room called `name`, without the host: plain clients and viewers.
    public func memberCount(in name: String) -> Int {
        guard let room = rooms.first(where: { $0.definition.name == name }) else { return 0 }
        return room.peers.count + room.viewers.count
    }

    /// How many plain SkyRTC clients are in the room called `name`.
    public func peerCount(in name: String) -> Int {
        rooms.first { $0.definition.name == name }?.peers.count ?? 0
    }

    /// Who watches the room called `name` by our page.
    public func viewers(in name: String) -> Set<MemberID> {
        rooms.first { $0.definition.name == name }?.viewers ?? []
    }
}

// MARK: - Coming and going

extension RoomDirectory {
    private mutating func join(_ member: MemberID, _ key: RoomKey, _ role: MemberRole) -> [RoomAction] {
        // Who joins again moves: the original server left a ghost behind.
        var actions = leave(member)
        let (grant, found) = lookUp(key)
        guard let index = found else {
            return actions + [.refuse(member, grant == .needsPassword ? .needsPassword : .notAdmitted)]
        }
        let definition = rooms[index].definition
        let others = role == .peer ? rooms[index].peers : []
        if role == .peer && others.count >= peerLimit || memberCount(in: definition.name) >= memberLimit {
            return actions + [.refuse(member, .full)]
        }
        memberships[member] = Membership(room: index, role: role)
        switch role {
        case .peer: rooms[index].peers.append(member)
        case .viewer: rooms[index].viewers.insert(member)
        }
        // Those who are there hear of the newcomer before it hears of them, and the newcomer offers. The host is named
        // last because SkyRTC's iOS client calls only the last of the list.
        actions += others.map { .send(.newPeer(member), to: $0) }
        actions.append(
            .send(.peers(connections: others + [definition.host], you: member, host: definition.host), to: member))
        actions.append(.joined(member, room: definition.name, role))
        return actions
    }

    private mutating func leave(_ member: MemberID) -> [RoomAction] {
        guard let membership = memberships.removeValue(forKey: member) else { return [] }
        var actions: [RoomAction] = membership.hasSession ? [.closeSession(member)] : []
        switch membership.role {
        case .viewer:
            rooms[membership.room].viewers.remove(member)
        case .peer:
            rooms[membership.room].peers.removeAll { $0 == member }
            actions += rooms[membership.room].peers.map { .send(.removePeer(member), to: $0) }
        }
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
            for member in room.peers + Array(room.viewers) { actions += leave(member) + [.refuse(member, .expired)] }
        }
        return actions
    }

    /// Whether the time of the room called `name` is over.
    public func hasExpired(_ name: String) -> Bool {
        rooms.first { $0.definition.name == name }?.definition.access.isExpired(at: now) ?? false
    }
}

// MARK: - Talking

extension RoomDirectory {
    private mutating func offer(from member: MemberID, to target: MemberID, sdp: String) -> [RoomAction] {
        guard let membership = memberships[member] else { return ignored() }
        let definition = rooms[membership.room].definition
        guard target == definition.host else {
            return relay(from: member, to: target, .offer(sdp: sdp, from: member))
        }
        // The host never offers, so there is no glare with it: a second offer is a new start.
        memberships[member]?.hasSession = true
        let open = RoomAction.openSession(member, room: definition.name, offer: sdp)
        return membership.hasSession ? [.closeSession(member), open] : [open]
    }

    private mutating func candidate(
        from member: MemberID, to target: MemberID, _ candidate: ICECandidate
    ) -> [RoomAction] {
        guard let membership = memberships[member] else { return ignored() }
        guard target == rooms[membership.room].definition.host else {
            return relay(from: member, to: target, .candidate(candidate, from: member))
        }
        return membership.hasSession ? [.addCandidate(member, candidate)] : ignored()
    }

    /// Passes `message` on between two plain clients of one room, and to nobody else.
    private mutating func relay(from member: MemberID, to target: MemberID, _ message: RoomMessage) -> [RoomAction] {
        guard let sender = memberships[member], let receiver = memberships[target], member != target,
            sender.room == receiver.room, sender.role == .peer, receiver.role == .peer
        else { return ignored() }
        return [.send(message, to: target)]
    }

    private mutating func sessionAnswered(_ member: MemberID, _ sdp: String) -> [RoomAction] {
        guard let membership = memberships[member], membership.hasSession else { return ignored() }
        return [.send(.answer(sdp: sdp, from: rooms[membership.room].definition.host), to: member)]
    }

    private mutating func sessionIsOver(
        _ member: MemberID, _ message: (_ host: MemberID) -> RoomMessage
    ) -> [RoomAction] {
        guard let membership = memberships[member], membership.hasSession else { return [] }
        memberships[member]?.hasSession = false
        return [.send(message(rooms[membership.room].definition.host), to: member)]
    }

    private mutating func ignored() -> [RoomAction] {
        ignoredEvents &+= 1
        return []
    }
}
