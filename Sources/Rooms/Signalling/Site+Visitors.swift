import CGLib
import Rooms

/// Somebody who is in a room, by whatever protocol.
struct PresentVisitor {
    let who: Visitor
    let room: String
    /// When the visitor arrived (g_get_monotonic_time).
    let since: Int
    /// The track that it watches or sends. For members of a room the directory knows the tracks.
    let track: TrackName?
    /// Makes the visitor leave.
    let kick: () -> Void
}

/// The list of visitors that a room's viewers are told, and when.
struct Roster {
    /// The last list sent, and when it was sent (g_get_monotonic_time).
    var text = ""
    var toldAt = Int.min / 2
    /// The timer for the next list; nil if nothing has changed.
    var timer: EventSource?
}

/// The visitors in the rooms, as told to the host's programs and to each other.
extension Site {
    /// Records that somebody has entered a room. The caller must call ``left(_:)`` later.
    func came(_ who: Visitor, to room: String, track: TrackName? = nil, kick: @escaping () -> Void) {
        visitors[who.id] = PresentVisitor(
            who: who, room: room, since: g_get_monotonic_time(), track: track, kick: kick)
        onEvent(RoomNews(.came, room: room, who: who))
    }

    /// Records that a visitor has left. Unknown ids are ignored.
    func left(_ id: String) {
        guard let visitor = visitors.removeValue(forKey: id) else { return }
        onEvent(RoomNews(.left, room: visitor.room, who: visitor.who))
    }

    /// The address of a visitor; empty if there is no such visitor.
    func address(of visitor: String) -> String { visitors[visitor]?.who.address ?? "" }

    /// Makes a visitor leave. Returns whether there was one.
    func kick(_ id: String) -> Bool {
        guard let visitor = visitors[id] else { return false }
        log("room \(visitor.room): a \(visitor.who.kind.rawValue) from \(visitor.who.address) is sent away")
        visitor.kick()
        return true
    }

    /// Returns the current state of the rooms, in the order of the configuration, with visitors in order of arrival.
    func report() -> [RoomReport] {
        let now = g_get_monotonic_time()
        let present = Dictionary(grouping: visitors.values, by: \.room)
        return directory.roomNames.map { room in
            RoomReport(
                name: room,
                tracks: directory.tracks(in: room).compactMap { name in
                    tracks[TrackAddress(room: room, track: name)].map { track in
                        RoomReport.Track(
                            name: name.text, state: track.state, age: .microseconds(now - track.since))
                    }
                },
                visitors: (present[room] ?? []).sorted { $0.since < $1.since }.map { visitor in
                    let member = MemberID(visitor.who.id)
                    let watched = directory.tracksWatched(by: member) + [visitor.track].compactMap { $0 }
                    return RoomReport.Presence(
                        who: visitor.who, age: .microseconds(now - visitor.since), tracks: watched.map(\.text),
                        isMeeting: directory.place(of: member)?.isMeeting ?? false)
                })
        }
    }
}

// MARK: - Telling each other

extension Site {
    /// The shortest time between two lists, in microseconds.
    private static let rosterPause = 1_000_000
    /// The time that each viewer adds to this, in microseconds. Whatever their number, at most 200 messages a second
    /// are sent.
    private static let rosterPausePerViewer = 5000
    /// How long a change waits so that others can be sent with it, in microseconds.
    private static let rosterDelay = 100_000

    /// Schedules a new list of visitors for the viewers of `room`.
    func rosterChanged(in room: String) {
        let viewers = directory.viewers(in: room).count
        guard viewers > 0 else { return rosters[room] = nil }
        var roster = rosters[room] ?? Roster()
        guard roster.timer == nil else { return }
        let now = g_get_monotonic_time()
        let pause = max(Self.rosterPause, viewers * Self.rosterPausePerViewer)
        let wait = max(Self.rosterDelay, roster.toldAt + pause - now)
        roster.timer = EventSource.timer(every: UInt32(clamping: wait / 1000), on: context) { [unowned self] in
            rosters[room]?.timer = nil
            tellRoster(of: room)
            return false
        }
        rosters[room] = roster
    }

    /// Sends a new member the last list that was sent to all. Changes since then follow on their own.
    func tellRoster(to member: RoomMember, in room: String) {
        if let text = rosters[room]?.text, !text.isEmpty { member.socket.send(text) }
    }

    private func tellRoster(of room: String) {
        guard var roster = rosters[room] else { return }
        let people = directory.people(in: room)
        let players = playerCount(in: room)
        let text = SkyRTCReply(people: people.members, count: people.count + players).text
        guard text != roster.text else { return }
        roster.text = text
        roster.toldAt = g_get_monotonic_time()
        rosters[room] = roster
        let frame = WebSocketFrame.text(text)
        for viewer in directory.viewers(in: room) { members[viewer]?.socket.send(frame: frame) }
    }
}
