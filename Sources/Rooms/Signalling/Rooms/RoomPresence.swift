import Clocks
import MediaSessions
import MediaTypes
import Rooms
import Threading

/// The participants of all rooms, over any protocol: counts them, and reports them to the host's programs and the
/// viewers.
final class RoomPresence {
    /// A participant of a room.
    private struct Presence {
        var who: Participant
        let room: String
        /// When the participant arrived.
        let since: MonotonicTime
        /// The track that the participant watches or sends; nil for members of a room, whose tracks the directory
        /// knows.
        let track: TrackName?
        /// Returns the participant's media sessions of tracks that they watch.
        let sessions: () -> [TrackName: ClientSession]
        /// Makes the participant leave.
        let remove: () -> Void
    }

    /// The list of participants that a room's viewers are sent, and when it was sent.
    private struct ParticipantList {
        /// The last list sent, and when it was sent.
        var text = ""
        var toldAt = MonotonicTime(nanoseconds: .min)
        /// The timer for the next list; nil if nothing has changed.
        var timer: EventSource?
    }

    private let rooms: HostRooms
    private let pointers: Pointers
    private let doors: Doors
    /// The counts, for readers on other threads.
    private let audience: Audience
    private let maxFromAddress: Int
    private let onEvent: @Sendable (RoomNews) -> Void
    private let log: LogRateLimiter
    private let context: OpaquePointer
    /// Keyed by `Participant.id`.
    private var present: [String: Presence] = [:]
    /// How many participants there are from each address and from each IPv6 /48, keyed by `ClientAddress.key` and
    /// `networkKey`.
    private var participantsFrom: [String: Int] = [:]
    /// The identifiers of participants who use WHEP or socket.io, and so aren't members.
    private var players: Set<String> = []
    /// Keyed by room. A room without viewers has no entry.
    private var participantLists: [String: ParticipantList] = [:]

    init(
        _ configuration: SignallingConfiguration, rooms: HostRooms, pointers: Pointers, doors: Doors,
        audience: Audience, log: LogRateLimiter,
        on context: OpaquePointer
    ) {
        maxFromAddress = configuration.limits.participantsPerAddress
        onEvent = configuration.onEvent
        self.rooms = rooms
        self.pointers = pointers
        self.doors = doors
        self.audience = audience
        self.log = log
        self.context = context
    }

    /// Whether one more participant from `address` may enter a room.
    func mayEnter(from address: String) -> Bool {
        guard !Loopback.contains(address) else { return true }
        func count(_ key: String) -> Int { participantsFrom[key, default: 0] }
        let network = ClientAddress.networkKey(address).map(count) ?? 0
        return Crowd.size(address: count(ClientAddress.key(address)), network: network) < maxFromAddress
    }

    private func count(_ address: String, _ change: Int) {
        for key in [ClientAddress.key(address), ClientAddress.networkKey(address)].compactMap(\.self) {
            let count = participantsFrom[key, default: 0] + change
            participantsFrom[key] = count > 0 ? count : nil
        }
    }

    /// Records that a participant has entered a room. The caller must call ``left(_:)`` later.
    func came(
        _ who: Participant, to room: String, track: TrackName? = nil,
        sessions: @escaping () -> [TrackName: ClientSession] = { [:] }, remove: @escaping () -> Void
    ) {
        let presence = Presence(
            who: who, room: room, since: .now(), track: track, sessions: sessions, remove: remove)
        if let former = present.updateValue(presence, forKey: who.id) { count(former.who.address, -1) }
        count(who.address, 1)
        if who.kind == .player || who.kind == .caller { players.insert(who.id) }
        if who.kind == .player, let track {
            pointers.setPlainReader(who.id, of: TrackAddress(room: room, track: track))
        }
        changed(in: room)
        onEvent(RoomNews(change: .came, room: room, who: who))
    }

    /// Records that a participant has left. Unknown ids are ignored.
    func left(_ id: String) {
        guard let participant = present.removeValue(forKey: id) else { return }
        count(participant.who.address, -1)
        players.remove(id)
        pointers.setPlainReader(id, of: nil)
        changed(in: participant.room)
        onEvent(RoomNews(change: .left, room: participant.room, who: participant.who))
    }

    /// Records that a participant has another address now. Unknown ids are ignored.
    func moved(_ id: String, to address: String) {
        guard let former = present[id]?.who.address else { return }
        count(former, -1)
        count(address, 1)
        present[id]?.who.address = address
    }

    /// Counts the audience of `room` again. Must be called whenever the audience may have changed, except by a
    /// participant's arrival or departure.
    func changed(in room: String) {
        audience.set(room, members: rooms.directory.memberCount(in: room), players: playerCount(in: room))
        pointers.decide(in: room)
        scheduleRoster(of: room)
    }

    /// Makes a participant leave. Returns whether there was such a participant, in the room `room` if one is given.
    func removeParticipant(_ id: String, from room: String? = nil) -> Bool {
        guard let participant = present[id], room == nil || participant.room == room else { return false }
        log.own.info(
            "room \(participant.room): a \(participant.who.kind.rawValue) from \(participant.who.address) is removed")
        participant.remove()
        return true
    }

    /// Makes all participants in `room` leave.
    func removeAll(from room: String) {
        for participant in Array(present.values) where participant.room == room { participant.remove() }
    }

    /// Returns the current state of the rooms, in the order of the configuration, with participants in order of
    /// arrival.
    func report() -> RoomsDocument {
        let now = MonotonicTime.now()
        let directory = rooms.directory
        let present = Dictionary(grouping: present.values, by: \.room)
        let rooms = directory.roomNames.map { room in
            let door = doors.state(of: room)
            return RoomsDocument.Room(
                name: room,
                tracks: self.rooms.addresses(in: room).compactMap { address in
                    self.rooms[address].map { track in
                        RoomsDocument.Track(
                            name: address.track.text, state: track.state.word, message: track.state.message,
                            seconds: Self.seconds(in: now - track.since), text: track.tag.text, data: track.tag.data)
                    }
                },
                members: (present[room] ?? []).sorted { $0.since < $1.since }.map { participant in
                    let (who, member) = (participant.who, MemberID(participant.who.id))
                    let watched = directory.tracksWatched(by: member) + [participant.track].compactMap { $0 }
                    return RoomsDocument.Member(
                        id: who.id, kind: who.kind.rawValue, name: who.name, address: who.address,
                        seconds: Self.seconds(in: now - participant.since), tracks: watched.map(\.text),
                        meeting: directory.place(of: member)?.isMeeting ?? false,
                        turn: self.rooms[member]?.turn?.rawValue, paths: paths(of: participant))
                }, locked: door.isLocked,
                waiting: !door.hasWaitingRoom
                    ? nil
                    : door.waiting.map { client in
                        RoomsDocument.Waiting(
                            id: client.id, name: client.name, address: client.address,
                            seconds: Self.seconds(in: now - client.since))
                    })
        }
        return RoomsDocument(rooms: rooms)
    }

    private func paths(of participant: Presence) -> [RoomsDocument.Path]? {
        let paths = participant.sessions().sorted { $0.key.text < $1.key.text }.compactMap { track, session in
            session.side.statistics(of: session.id).map { RoomsDocument.Path($0, track: track.text) }
        }
        return paths.isEmpty ? nil : paths
    }

    /// A length in seconds, rounded down to tenths.
    private static func seconds(in length: Interval) -> Double { Double(length.milliseconds / 100) / 10 }

    func stop() {
        participantLists = [:]
    }

    private func playerCount(in room: String) -> Int {
        players.count { present[$0]?.room == room }
    }
}

// MARK: - Telling each other

extension RoomPresence {
    /// The minimum time between two lists for a room.
    private static let rosterPause = Interval.seconds(1)
    /// If a room has many viewers, the minimum time is this long for each of them instead, so that at most 200 messages
    /// per second are sent.
    private static let rosterPausePerViewer = Interval.milliseconds(5)
    /// How long a change waits for others that can be sent with it.
    private static let rosterDelay = Interval.milliseconds(100)

    /// Sends a new member the last list that was sent to all. Later changes follow with the next list.
    func tellRoster(of room: String, to member: RoomMember) {
        if let text = participantLists[room]?.text, !text.isEmpty { member.socket.send(text) }
    }

    /// Schedules a new list of participants for the viewers of `room`.
    private func scheduleRoster(of room: String) {
        let viewers = rooms.directory.viewers(in: room).count
        guard viewers > 0 else { return participantLists[room] = nil }
        var participantList = participantLists[room] ?? ParticipantList()
        guard participantList.timer == nil else { return }
        let now = MonotonicTime.now()
        let pause = max(Self.rosterPause, Self.rosterPausePerViewer * Int64(viewers))
        let wait = max(Self.rosterDelay, participantList.toldAt + pause - now)
        participantList.timer = EventSource.timer(every: wait, on: context, of: self) { presence in
            presence.participantLists[room]?.timer = nil
            presence.tellRoster(of: room)
            return false
        }
        participantLists[room] = participantList
    }

    private func tellRoster(of room: String) {
        guard var participantList = participantLists[room] else { return }
        let people = rooms.directory.people(in: room)
        let text = SkyRTCReply(people: people.members, count: people.count + playerCount(in: room)).text
        guard text != participantList.text else { return }
        participantList.text = text
        participantList.toldAt = .now()
        participantLists[room] = participantList
        rooms.tellViewers(of: room, text)
    }
}
