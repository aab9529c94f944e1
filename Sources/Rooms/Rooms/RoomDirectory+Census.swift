// Queries about the rooms and their members.

extension RoomDirectory {
    /// A member's place: its room, and how it is there.
    public struct Place: Sendable, Equatable {
        /// The room's name.
        public let room: String
        /// The member's role.
        public let role: MemberRole
        /// The name that the member has chosen; nil without one.
        public let name: String?
        /// Whether the member is in the meeting.
        public let isMeeting: Bool
    }

    /// The members of a room, as its viewers are told of them.
    public struct MemberList: Sendable, Equatable {
        /// The number of members, without the host.
        public let count: Int
        /// Some of the members: first those in the meeting, then others with a name, then the rest, each in order of
        /// arrival.
        public let members: [MemberDescription]
    }

    /// The names of the rooms. The first room is meant if a client names none.
    public var roomNames: [String] { rooms.map(\.definition.name) }

    /// Returns where `member` is; nil if it is in no room.
    public func place(of member: MemberID) -> Place? {
        memberships[member].map {
            Place(
                room: rooms[$0.room].definition.name, role: $0.role, name: $0.name, isMeeting: $0.isMeeting)
        }
    }

    /// The `_peers` message for a viewer who goes on by another connection; nil for members of the mesh, who would have
    /// missed what others told them.
    public func greetingAgain(_ member: MemberID) -> RoomMessage? {
        guard let membership = memberships[member], membership.role == .viewer, !membership.isMeeting else {
            return nil
        }
        let host = rooms[membership.room].definition.host
        return .peers(connections: [host], you: member, host: host)
    }

    /// The tracks of the room called `name`, in the order in which they were added.
    public func tracks(in name: String) -> [TrackName] {
        index(of: name).map { rooms[$0].tracks } ?? []
    }

    /// Whether messages to the members of that room name the track that they are about.
    public func namesTracks(in name: String) -> Bool {
        index(of: name).map { rooms[$0].namesTracks } ?? false
    }

    /// The tracks for which a member has a session, in the order of the room's tracks.
    public func tracksWatched(by member: MemberID) -> [TrackName] {
        guard let membership = memberships[member] else { return [] }
        return rooms[membership.room].tracks.filter(membership.sessions.contains)
    }

    /// Whether a member has a session for `track`.
    public func isWatching(_ member: MemberID, _ track: TrackName) -> Bool {
        memberships[member]?.sessions.contains(track) ?? false
    }

    /// Whether the room called `name` has a token for presenters.
    public func hasPresenters(_ name: String) -> Bool {
        index(of: name).map { rooms[$0].definition.access.presenting != nil } ?? false
    }

    /// The number of members in the room called `name`: plain clients and viewers, without the host.
    public func memberCount(in name: String) -> Int {
        index(of: name).map { rooms[$0].arrivals.count } ?? 0
    }

    /// All members of the room called `name`, in order of arrival.
    public func members(in name: String) -> [MemberID] {
        index(of: name).map { Array(rooms[$0].arrivals.members) } ?? []
    }

    /// The members who watch the room called `name` with our page.
    public func viewers(in name: String) -> Set<MemberID> {
        index(of: name).map { rooms[$0].viewers } ?? []
    }

    /// The number of plain SkyRTC clients that watch `track` in the room called `name`. For the first track all of them
    /// count, because they joined for it, even if they haven't asked for it yet.
    public func peerCount(of track: TrackName, in name: String) -> Int {
        guard let room = index(of: name) else { return 0 }
        if rooms[room].tracks.first == track { return rooms[room].peers.count }
        return rooms[room].peers.count { memberships[$0]?.sessions.contains(track) == true }
    }

    /// Returns the members of the room called `name`, of whom at most `limit` are listed.
    public func people(in name: String, limit: Int = 50) -> MemberList {
        guard let room = index(of: name).map({ rooms[$0] }) else { return MemberList(count: 0, members: []) }
        var members = room.mesh.prefix(limit).compactMap(person)
        // Only members that are already in the list are skipped, so no more than `limit`.
        for member in room.namedArrivals.members {
            guard members.count < limit else { break }
            if let person = person(member), !person.isMeeting { members.append(person) }
        }
        for member in room.arrivals.members {
            guard members.count < limit else { break }
            if let person = person(member), !person.isMeeting, person.name == nil { members.append(person) }
        }
        return MemberList(count: room.arrivals.count, members: members)
    }

    func person(_ member: MemberID) -> MemberDescription? {
        memberships[member].map { MemberDescription(id: member, name: $0.name, isMeeting: $0.isMeeting) }
    }

    func index(of name: String) -> Int? {
        rooms.firstIndex { $0.definition.name == name }
    }
}
