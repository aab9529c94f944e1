import CGLib
import MediaSessions
import MediaTypes
import Rooms
import Threading

/// Everybody who is in a room, by whatever protocol: counts them, and tells the host's programs and the viewers who is
/// there.
final class Attendance {
    /// Somebody who is in a room.
    private struct Presence {
        var who: Visitor
        let room: String
        /// When the visitor arrived (g_get_monotonic_time).
        let since: Int
        /// The track that the visitor watches or sends; nil for members of a room, whose tracks the directory knows.
        let track: TrackName?
        /// Returns the visitor's media sessions of tracks that they watch.
        let sessions: () -> [TrackName: ClientSession]
        /// Makes the visitor leave.
        let remove: () -> Void
    }

    /// The list of visitors that a room's viewers are sent, and when it was sent.
    private struct Roster {
        /// The last list sent, and when it was sent (g_get_monotonic_time).
        var text = ""
        var toldAt = Int.min / 2
        /// The timer for the next list; nil if nothing has changed.
        var timer: EventSource?
    }

    private let rooms: HostRooms
    private let pointers: Pointers
    /// The counts, for readers on other threads.
    private let audience: Audience
    private let maxFromAddress: Int
    private let onEvent: @Sendable (RoomNews) -> Void
    private let log: LogRateLimiter
    private let context: OpaquePointer
    /// Keyed by `Visitor.id`.
    private var present: [String: Presence] = [:]
    /// How many visitors there are from each address, keyed by `ClientAddress.key`.
    private var visitorsFrom: [String: Int] = [:]
    /// The identifiers of visitors who use WHEP or socket.io, and so aren't members.
    private var players: Set<String> = []
    /// Keyed by room. A room without viewers has no entry.
    private var rosters: [String: Roster] = [:]

    init(
        _ configuration: SignallingConfiguration, rooms: HostRooms, pointers: Pointers, audience: Audience,
        log: LogRateLimiter,
        on context: OpaquePointer
    ) {
        maxFromAddress = configuration.limits.visitorsPerAddress
        onEvent = configuration.onEvent
        (self.rooms, self.pointers, self.audience) = (rooms, pointers, audience)
        (self.log, self.context) = (log, context)
    }

    /// Whether one more visitor from `address` may enter a room.
    func mayEnter(from address: String) -> Bool {
        guard !ClientAddress.isLoopback(address) else { return true }
        return visitorsFrom[ClientAddress.key(address), default: 0] < maxFromAddress
    }

    private func count(_ address: String, _ change: Int) {
        let key = ClientAddress.key(address)
        let count = visitorsFrom[key, default: 0] + change
        visitorsFrom[key] = count > 0 ? count : nil
    }

    /// Records that somebody has entered a room. The caller must call ``left(_:)`` later.
    func came(
        _ who: Visitor, to room: String, track: TrackName? = nil,
        sessions: @escaping () -> [TrackName: ClientSession] = { [:] }, remove: @escaping () -> Void
    ) {
        let presence = Presence(
            who: who, room: room, since: g_get_monotonic_time(), track: track, sessions: sessions, remove: remove)
        if let former = present.updateValue(presence, forKey: who.id) { count(former.who.address, -1) }
        count(who.address, 1)
        if who.kind == .player || who.kind == .caller { players.insert(who.id) }
        if who.kind == .player, let track {
            pointers.setPlainReader(who.id, of: TrackAddress(room: room, track: track))
        }
        changed(in: room)
        onEvent(RoomNews(change: .came, room: room, who: who))
    }

    /// Records that a visitor has left. Unknown ids are ignored.
    func left(_ id: String) {
        guard let visitor = present.removeValue(forKey: id) else { return }
        count(visitor.who.address, -1)
        players.remove(id)
        pointers.setPlainReader(id, of: nil)
        changed(in: visitor.room)
        onEvent(RoomNews(change: .left, room: visitor.room, who: visitor.who))
    }

    /// Records that a visitor has another address now. Unknown ids are ignored.
    func moved(_ id: String, to address: String) {
        guard let former = present[id]?.who.address else { return }
        count(former, -1)
        count(address, 1)
        present[id]?.who.address = address
    }

    /// Counts the audience of `room` again. Must be called whenever it may have changed for another reason than that
    /// somebody came or left.
    func changed(in room: String) {
        audience.set(room, members: rooms.directory.memberCount(in: room), players: playerCount(in: room))
        pointers.decide(in: room)
        scheduleRoster(of: room)
    }

    /// Makes a visitor leave. Returns whether there was such a visitor, in the room `room` if one is given.
    func removeVisitor(_ id: String, from room: String? = nil) -> Bool {
        guard let visitor = present[id], room == nil || visitor.room == room else { return false }
        log.own.info("room \(visitor.room): a \(visitor.who.kind.rawValue) from \(visitor.who.address) is removed")
        visitor.remove()
        return true
    }

    /// Makes all visitors in `room` leave.
    func removeAll(from room: String) {
        for visitor in Array(present.values) where visitor.room == room { visitor.remove() }
    }

    /// Returns the current state of the rooms, in the order of the configuration, with visitors in order of arrival.
    func report() -> RoomsDocument {
        let now = g_get_monotonic_time()
        let directory = rooms.directory
        let present = Dictionary(grouping: present.values, by: \.room)
        let rooms = directory.roomNames.map { room in
            RoomsDocument.Room(
                name: room,
                tracks: self.rooms.addresses(in: room).compactMap { address in
                    self.rooms[address].map { track in
                        RoomsDocument.Track(
                            name: address.track.text, state: track.state.word, message: track.state.message,
                            seconds: Self.seconds(in: now - track.since), text: track.tag.text, data: track.tag.data)
                    }
                },
                members: (present[room] ?? []).sorted { $0.since < $1.since }.map { visitor in
                    let (who, member) = (visitor.who, MemberID(visitor.who.id))
                    let watched = directory.tracksWatched(by: member) + [visitor.track].compactMap { $0 }
                    return RoomsDocument.Member(
                        id: who.id, kind: who.kind.rawValue, name: who.name, address: who.address,
                        seconds: Self.seconds(in: now - visitor.since), tracks: watched.map(\.text),
                        meeting: directory.place(of: member)?.isMeeting ?? false, paths: paths(of: visitor))
                })
        }
        return RoomsDocument(rooms: rooms)
    }

    private func paths(of visitor: Presence) -> [RoomsDocument.Path]? {
        let paths = visitor.sessions().sorted { $0.key.text < $1.key.text }.compactMap { track, session in
            session.side.statistics(of: session.id).map { RoomsDocument.Path($0, track: track.text) }
        }
        return paths.isEmpty ? nil : paths
    }

    /// Microseconds in seconds, rounded down to tenths.
    private static func seconds(in microseconds: Int) -> Double { Double(microseconds / 100_000) / 10 }

    func stop() {
        rosters = [:]
    }

    private func playerCount(in room: String) -> Int {
        players.count { present[$0]?.room == room }
    }
}

// MARK: - Telling each other

extension Attendance {
    /// The minimum time between two lists for a room, in microseconds.
    private static let rosterPause = 1_000_000
    /// If a room has many viewers, the minimum time is this long for each of them instead, in microseconds, so that at
    /// most 200 messages per second are sent.
    private static let rosterPausePerViewer = 5000
    /// How long a change waits for others that can be sent with it, in microseconds.
    private static let rosterDelay = 100_000

    /// Sends a new member the last list that was sent to all. Later changes come with the next list.
    func tellRoster(of room: String, to member: RoomMember) {
        if let text = rosters[room]?.text, !text.isEmpty { member.socket.send(text) }
    }

    /// Schedules a new list of visitors for the viewers of `room`.
    private func scheduleRoster(of room: String) {
        let viewers = rooms.directory.viewers(in: room).count
        guard viewers > 0 else { return rosters[room] = nil }
        var roster = rosters[room] ?? Roster()
        guard roster.timer == nil else { return }
        let now = g_get_monotonic_time()
        let pause = max(Self.rosterPause, viewers * Self.rosterPausePerViewer)
        let wait = max(Self.rosterDelay, roster.toldAt + pause - now)
        roster.timer = EventSource.timer(every: UInt32(clamping: wait / 1000), on: context, of: self) { attendance in
            attendance.rosters[room]?.timer = nil
            attendance.tellRoster(of: room)
            return false
        }
        rosters[room] = roster
    }

    private func tellRoster(of room: String) {
        guard var roster = rosters[room] else { return }
        let people = rooms.directory.people(in: room)
        let text = SkyRTCReply(people: people.members, count: people.count + playerCount(in: room)).text
        guard text != roster.text else { return }
        roster.text = text
        roster.toldAt = g_get_monotonic_time()
        rosters[room] = roster
        rooms.tellViewers(of: room, text)
    }
}
