// Who and what is in the rooms, for who asks.

extension RoomDirectory {
    /// Where a member is, and as what.
    public struct Place: Sendable, Equatable {
        public let room: String
        public let role: MemberRole
        public let name: String?
        public let isMeeting: Bool
    }

    /// Who is in a room, as its viewers are told.
    public struct People: Sendable, Equatable {
        /// Everybody but the host.
        public let count: Int
        /// Some of them: first who meets, then who has a name, then others, each in the order they came.
        public let members: [Person]
    }

    /// The rooms' names, the first of which is meant where a client names none.
    public var roomNames: [String] { rooms.map(\.definition.name) }

    /// Where `member` is; nil while it is in no room.
    public func place(of member: MemberID) -> Place? {
        memberships[member].map {
            Place(
                room: rooms[$0.room].definition.name, role: $0.role, name: $0.name, isMeeting: $0.isMeeting)
        }
    }

    /// The tracks of the room called `name`, in the order they came.
    public func tracks(in name: String) -> [TrackName] {
        index(of: name).map { rooms[$0].tracks } ?? []
    }

    /// Whether messages to members of that room name the track that they are about.
    public func namesTracks(in name: String) -> Bool {
        index(of: name).map { rooms[$0].namesTracks } ?? false
    }

    /// The tracks that a member has a session of, in the order of its room's.
    public func tracksWatched(by member: MemberID) -> [TrackName] {
        guard let membership = memberships[member] else { return [] }
        return rooms[membership.room].tracks.filter(membership.sessions.contains)
    }

    /// Whether a member has a session of `track`.
    public func isWatching(_ member: MemberID, _ track: TrackName) -> Bool {
        memberships[member]?.sessions.contains(track) ?? false
    }

    /// How many are in the room called `name`, without the host: plain clients and viewers.
    public func memberCount(in name: String) -> Int {
        index(of: name).map { rooms[$0].arrivals.count } ?? 0
    }

    /// Everybody in the room called `name`, in the order they came.
    public func members(in name: String) -> [MemberID] {
        index(of: name).map { Array(rooms[$0].arrivals.members) } ?? []
    }

    /// Who watches the room called `name` by our page.
    public func viewers(in name: String) -> Set<MemberID> {
        index(of: name).map { rooms[$0].viewers } ?? []
    }

    /// How many plain SkyRTC clients watch `track` of the room called `name`. The first track is what all of them came for,
    /// whether they have asked for it yet or not.
    public func peerCount(of track: TrackName, in name: String) -> Int {
        guard let room = index(of: name) else { return 0 }
        if rooms[room].tracks.first == track { return rooms[room].peers.count }
        return rooms[room].peers.count { memberships[$0]?.sessions.contains(track) == true }
    }

    /// Who is in the room called `name`; at most `limit` are named.
    public func people(in name: String, limit: Int = 50) -> People {
        guard let room = index(of: name).map({ rooms[$0] }) else { return People(count: 0, members: []) }
        var members = room.mesh.prefix(limit).compactMap(person)
        // Passed over are those who stand here already: no more than `limit` of them.
        for member in room.namedArrivals.members {
            guard members.count < limit else { break }
            if let person = person(member), !person.isMeeting { members.append(person) }
        }
        for member in room.arrivals.members {
            guard members.count < limit else { break }
            if let person = person(member), !person.isMeeting, person.name == nil { members.append(person) }
        }
        return People(count: room.arrivals.count, members: members)
    }

    func person(_ member: MemberID) -> Person? {
        memberships[member].map { Person(id: member, name: $0.name, isMeeting: $0.isMeeting) }
    }

    func index(of name: String) -> Int? {
        rooms.firstIndex { $0.definition.name == name }
    }
}
