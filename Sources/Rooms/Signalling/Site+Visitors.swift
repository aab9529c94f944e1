import CGLib
import Rooms

/// Somebody who is in a room, by whatever protocol.
struct PresentVisitor {
    let who: Visitor
    let room: String
    /// Since when (g_get_monotonic_time).
    let since: Int
    /// The track it watches or sends; of members of a room the directory knows better.
    let track: TrackName?
    /// Has it leave.
    let kick: () -> Void
}

/// Who a room's viewers are told of, and when.
struct Roster {
    /// What they were told last, and when (g_get_monotonic_time).
    var text = ""
    var toldAt = Int.min / 2
    /// Runs while there is something to tell.
    var timer: EventSource?
}

/// Who is in the rooms, for the host's programs and for each other.
extension Site {
    /// Somebody has come into a room; whoever calls this calls ``left(_:)`` later.
    func came(_ who: Visitor, to room: String, track: TrackName? = nil, kick: @escaping () -> Void) {
        visitors[who.id] = PresentVisitor(
            who: who, room: room, since: g_get_monotonic_time(), track: track, kick: kick)
        onEvent(RoomNews(.came, room: room, who: who))
    }

    /// Who came has left; one who isn't there is ignored.
    func left(_ id: String) {
        guard let visitor = visitors.removeValue(forKey: id) else { return }
        onEvent(RoomNews(.left, room: visitor.room, who: visitor.who))
    }

    /// The address of somebody who is in a room; empty where there is no such one.
    func address(of visitor: String) -> String { visitors[visitor]?.who.address ?? "" }

    /// Has somebody leave; whether there was such a one.
    func kick(_ id: String) -> Bool {
        guard let visitor = visitors[id] else { return false }
        log("room \(visitor.room): a \(visitor.who.kind.rawValue) from \(visitor.who.address) is sent away")
        visitor.kick()
        return true
    }

    /// The rooms as they are now, in the order of the configuration; who is there in the order that they came.
    func report() -> [RoomReport] {
        let now = g_get_monotonic_time()
        let present = Dictionary(grouping: visitors.values, by: \.room)
        return directory.roomNames.map { room in
            RoomReport(
                name: room,
                tracks: directory.tracks(in: room).compactMap { name in
                    tracks[TrackAddress(room: room, track: name)].map { track in
                        RoomReport.Track(
                            name: name.text, state: track.state, message: track.message,
                            age: .microseconds(now - track.since))
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
    /// The shortest time between two rosters, in microseconds.
    private static let rosterPause = 1_000_000
    /// What one more viewer adds to that: however many there are, 200 messages a second tell them all.
    private static let rosterPausePerViewer = 5000
    /// So long a change waits for others to be told with.
    private static let rosterDelay = 100_000

    /// Has the viewers of `room` told who is there, soon.
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

    /// Tells who has joined what all were told last; what is new since then comes by itself.
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
