import Clocks
import MediaTypes
import Rooms
import Threading

/// The members of the rooms who send tracks from our page. Ends their sessions when the page is gone.
///
/// Their WHIP sessions belong to their visits. A tab that is killed ends its WebSocket at once, but not its WHIP
/// session, which the media layer would keep for 10 s.
///
/// Belongs to the site's thread.
final class Presenters {
    /// A track that a member sends.
    struct Presentation {
        let member: MemberID
        /// Whether media have arrived since `time`.
        let hasReceived: (_ time: MonotonicTime) -> Bool
        /// Ends the session.
        let end: (Presenter.Ending) -> Void
        /// When the member's WebSocket ended; nil while it is open.
        fileprivate var leftAt: MonotonicTime?

        init(
            of member: MemberID, hasReceived: @escaping (_ time: MonotonicTime) -> Bool,
            end: @escaping (Presenter.Ending) -> Void
        ) {
            self.member = member
            self.hasReceived = hasReceived
            self.end = end
        }
    }

    /// How long after the end of its WebSocket a page may take to end its session or to return.
    private static let timeout = Interval.milliseconds(1500)
    /// Media that arrive within this time after the end of the WebSocket may have been sent before it.
    private static let flightTime = Interval.milliseconds(500)

    let rooms: HostRooms
    /// Whether the host accepts publishers at all.
    let acceptsPublishers: Bool
    /// Whether viewers may ask for the turn.
    let acceptsTurnRequests: Bool
    /// How long a viewer whose request was declined can't ask again.
    let askAgainTime: Interval
    let log: LogRateLimiter
    /// The rooms in which a turn has changed since the last list of them was sent.
    var changedRooms: Set<String> = []
    /// Keyed by the names of their sessions.
    private var presentations: [String: Presentation] = [:]

    init(_ configuration: SignallingConfiguration, rooms: HostRooms, log: LogRateLimiter) {
        self.rooms = rooms
        self.log = log
        acceptsPublishers = configuration.publishing != nil
        acceptsTurnRequests = configuration.acceptsTurnRequests
        askAgainTime = configuration.limits.askAgainTime
    }

    /// The member of `room` whose visit has the secret `visit`.
    func member(of visit: String, in room: String) -> RoomMember? {
        rooms.members.values.first { $0.resumption == visit && rooms.directory.place(of: $0.id)?.room == room }
    }

    /// How `member` is described to viewers.
    func presenter(_ member: RoomMember) -> Presenter {
        Presenter(name: rooms.directory.place(of: member.id)?.name)
    }

    /// Whether `member` sends a track.
    func isPresenting(_ member: MemberID) -> Bool { presentations.values.contains { $0.member == member } }

    /// A member's session called `session` has begun.
    func began(_ session: String, _ presentation: Presentation) {
        presentations[session] = presentation
        changed(around: presentation.member)
    }

    /// The session called `session` is over. Unknown names are ignored.
    func ended(_ session: String) {
        guard let presentation = presentations.removeValue(forKey: session) else { return }
        changed(around: presentation.member)
    }

    /// The turns in the member's room aren't those that its members were told.
    func changed(around member: MemberID) {
        if let room = rooms.directory.place(of: member)?.room { changedRooms.insert(room) }
    }

    /// The member's WebSocket has ended, or the member has left the room.
    func disconnected(_ member: MemberID) {
        let now = MonotonicTime.now()
        change(of: member) { $0.leftAt = $0.leftAt ?? now }
    }

    /// The member continues over another WebSocket, and may have come with another token.
    func returned(_ member: RoomMember) {
        change(of: member.id) { $0.leftAt = nil }
        changed(around: member.id)
        if !member.mayPresent { end(member.id, .over) }
    }

    /// Ends all that the member presents.
    func end(_ member: MemberID, _ ending: Presenter.Ending) {
        for presentation in presentations.values where presentation.member == member { presentation.end(ending) }
    }

    /// Ends the sessions of pages that have gone, and turns whose time is over, and reports changed turns.
    func tick() {
        let now = MonotonicTime.now()
        endTurns(at: now)
        tellChanges()
        for (session, presentation) in presentations {
            guard let leftAt = presentation.leftAt, now - leftAt >= Self.timeout else { continue }
            if !presentation.hasReceived(leftAt + Self.flightTime) {
                presentation.end(.crashed)
            } else if rooms[presentation.member]?.mayPresent != true {
                presentation.end(.lost)
            } else {
                // The page lives, and may still return.
                presentations[session]?.leftAt = nil
            }
        }
    }

    private func change(of member: MemberID, _ change: (inout Presentation) -> Void) {
        for (session, presentation) in presentations where presentation.member == member {
            var changed = presentation
            change(&changed)
            presentations[session] = changed
        }
    }
}
