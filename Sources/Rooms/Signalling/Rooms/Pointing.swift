import ByteCoding
import Clocks
import MediaTypes
import Rooms
import Synchronization

/// The dots with which viewers point at the pictures, and the lines that they draw: passes the latest place of each
/// member, and what it has drawn, on to the other viewers of its room, and to the track's source for the sharer's own
/// screen.
///
/// A viewer that has a name may point, unless the host's user has switched that off. Its messages beyond
/// ``perSecond`` are dropped and counted. A viewer that hasn't read the last message gets the latest dots once it has,
/// with the lines of the last second. All viewers together get at most about 6,700 messages per second: the more of
/// them there are, and the more dots, the less often the dots move.
///
/// Belongs to the site's thread.
final class Pointing {
    /// How often a member's dot may move. The page sends 30 positions per second; its messages may arrive in bursts.
    static let perSecond = MessageAllowance(perSecond: 40, burst: .milliseconds(500))
    /// How many surplus messages are dropped without counting towards the limit of a client's messages.
    static let surplusPerSecond = MessageAllowance(perSecond: 1000, burst: .seconds(1))
    /// The minimum time between two messages about a member to one viewer.
    private static let period = Interval.milliseconds(17)
    /// The minimum time for each message that was sent, and for each ``messageSize`` bytes of a longer one.
    private static let pausePerMessage = Interval.microseconds(150)
    private static let messageSize = 1024

    private let rooms: HostRooms
    /// What is shown over the sharer's own screen.
    private var screens: [TrackAddress: SharersScreen] = [:]
    private let state: ViewerPermission
    private let context: OpaquePointer
    /// Whether pages have been told that their users may point.
    private(set) var isAllowed: Bool
    /// Keyed by room. A room without dots has no entry.
    private var dots: [String: PointedDots] = [:]
    /// Runs while there are dots.
    private var timer: EventSource?
    private var isTelling = false

    init(rooms: HostRooms, state: ViewerPermission, on context: OpaquePointer) {
        self.rooms = rooms
        self.state = state
        self.context = context
        isAllowed = state.isAllowed.load(ordering: .relaxed)
    }

    /// Whether a message about pointing is within its member's limit. If so, it doesn't count towards the limit of the
    /// client's messages, and neither does a surplus one that `isCheap`: one that is dropped without being decoded.
    func admits(_ member: RoomMember, isCheap: Bool) -> Bool {
        let now = MonotonicTime.now()
        if member.points.take(at: now) {
            member.socket.refundMessage()
            return true
        }
        state.dropped.wrappingAdd(1, ordering: .relaxed)
        if isCheap, member.surplusPoints.take(at: now) { member.socket.refundMessage() }
        return false
    }

    /// Carries out a member's request. Returns false, and does nothing, if the member may not make it.
    func carryOut(_ request: PointRequest, of member: RoomMember) -> Bool {
        guard let visit = rooms.directory.place(of: member.id), visit.role == .viewer, visit.name != nil else {
            return false
        }
        guard isAllowed else {
            // The page can't know yet.
            member.socket.send(SkyRTCReply(allowsPointing: false).text)
            return false
        }
        switch request {
        case .show(let place, let path, let track):
            guard let address = rooms.address(of: track, in: visit.room), rooms[address] != nil else { return false }
            let latest = PointedPlace(
                member: member.id, name: visit.name, track: rooms.label(of: address), place: place)
            if let before = dots[visit.room]?.shown(member.id), before.track != latest.track {
                show(before, isEnd: true, in: visit.room)
            }
            dots[visit.room, default: PointedDots()].set(latest, path: path, at: .now())
            show(latest, path: path, in: visit.room)
            tellSoon()
        case .stop: end(member.id, in: visit.room)
        }
        return true
    }

    /// Handles a member that has left `room`, or has another name there: its dot ends.
    func moved(_ id: MemberID, from room: String, to next: String?) {
        end(id, in: room)
        if next != room {
            dots[room]?.forget(id)
            for address in screens.keys where address.room == room { screens[address]?.forget(id) }
        }
    }

    /// Ends the member's dot in `room`, if there is one.
    private func end(_ id: MemberID, in room: String) {
        guard let latest = dots[room]?.shown(id) else { return }
        dots[room]?.end(id, at: .now())
        show(latest, isEnd: true, in: room)
        tellSoon()
    }

    /// Tells the viewers of all rooms if the host's user has switched pointing on or off.
    func update() {
        let isAllowed = state.isAllowed.load(ordering: .relaxed)
        guard isAllowed != self.isAllowed else { return }
        self.isAllowed = isAllowed
        if !isAllowed {
            stop()
            for address in rooms.directory.roomNames.flatMap(rooms.addresses(in:)) {
                rooms[address]?.media.showPoint(nil)
            }
        }
        let text = SkyRTCReply(allowsPointing: isAllowed).text
        for room in rooms.directory.roomNames { rooms.tellViewers(of: room, text) }
    }

    /// Forgets all dots.
    func stop() {
        timer = nil
        dots = [:]
        screens = [:]
    }
}

// MARK: - On the sharer's screen

extension Pointing {
    /// Passes on where a member points, or that it no longer does, within the limit of all viewers of the track.
    private func show(
        _ latest: PointedPlace, path: [PicturePlace?] = [], isEnd: Bool = false, in room: String
    ) {
        guard let address = rooms.address(of: latest.track, in: room), let media = rooms[address]?.media else { return }
        let member = latest.member
        let passed =
            isEnd
            ? screens[address]?.end(member)
            : screens[address, default: SharersScreen()].show(member, path: path, at: .now())
        guard let passed else {
            if !isEnd { state.dropped.wrappingAdd(1, ordering: .relaxed) }
            return
        }
        func place(_ place: PicturePlace?) -> ViewerPoint.Place? {
            place.flatMap { ViewerPoint.Place(fractions: $0.x, $0.y) }
        }
        media.showPoint(
            ViewerPoint(
                viewer: CRC32.of(Array(member.text.utf8)[...]), name: latest.name ?? "",
                place: isEnd ? nil : place(latest.place), path: passed.map(place)))
    }
}

// MARK: - Telling the pages

extension Pointing {
    /// Sends the latest dots now, unless that was done a moment ago: then the timer does it.
    private func tellSoon() {
        // Sending may end another member, whose dot then ends too. The timer is set after that.
        if timer == nil, !isTelling { tell() }
    }

    /// Sends the latest dots now. As long as there are dots, repeats that after a while.
    private func tell() {
        isTelling = true
        let count = tellAll()
        isTelling = false
        guard !dots.isEmpty else { return timer = nil }
        let wait = max(Self.period, Self.pausePerMessage * Int64(count))
        timer = EventSource.timer(every: wait, on: context, of: self) { pointing in
            pointing.tell()
            return false
        }
    }

    /// Sends each viewer the latest messages that it doesn't have. Returns their number; a long one counts several
    /// times.
    private func tellAll() -> Int {
        var count = 0
        let now = MonotonicTime.now()
        for room in Array(dots.keys) {
            dots[room]?.removeFaded(at: now)
            guard dots[room]?.isEmpty == false else {
                dots[room] = nil
                screens = screens.filter { $0.key.room != room }
                continue
            }
            for viewer in rooms.viewers(in: room)
            where !viewer.socket.hasUnsent && dots[room]?.hasNews(for: viewer.id) == true {
                let frames = dots[room]?.takeNews(for: viewer.id) ?? []
                for frame in frames {
                    count += 1 + frame.count / Self.messageSize
                    viewer.socket.send(frame: frame)
                }
            }
        }
        return count
    }
}
