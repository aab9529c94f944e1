import Clocks
import MediaSessions
import MediaTypes
import Rooms
import Threading

/// The state of a track's pointer.
private struct RoomPointer {
    /// The shape, also as an encoded event, and the number of shapes so far.
    var shape: (value: CursorImage, frame: [UInt8], number: UInt64)?
    /// The position, also as an encoded event, and the number of positions so far.
    var place: (value: PointerPlace, frame: [UInt8], number: UInt64)?
    /// Whether the pointer is drawn into the pictures that are sent now; nil before the first.
    var arePicturesDrawn: Bool?
    var hasSource = false
    var readers = 0
    var policy = PointerPolicy()
    /// The track's name in events, if they name it.
    private(set) var label: TrackName?

    /// Whether pages must be told the position: while the pictures don't contain the pointer, or soon won't. Drawing
    /// the pointer into the pictures saves these messages.
    var isApart: Bool { !policy.isDrawn || arePicturesDrawn == false }
    /// The state of a member that has been sent all updates.
    var told: PointerToldSoFar { PointerToldSoFar(shape: shape?.number ?? 0, place: place?.number ?? 0) }

    mutating func note(_ value: CursorImage) {
        shape = (value, WebSocketFrame.text(PointerEvent.shape(value, track: label)), (shape?.number ?? 0) + 1)
    }

    mutating func note(_ value: PointerPlace) {
        place = (value, WebSocketFrame.text(PointerEvent.place(value, track: label)), (place?.number ?? 0) + 1)
    }

    /// Makes events name the track, including events that are already encoded.
    mutating func name(_ track: TrackName) {
        guard label == nil else { return }
        label = track
        shape = shape.map { ($0.value, WebSocketFrame.text(PointerEvent.shape($0.value, track: track)), $0.number) }
        place = place.map { ($0.value, WebSocketFrame.text(PointerEvent.place($0.value, track: track)), $0.number) }
    }
}

/// The last updates of a track's pointer that a member has been sent.
private struct PointerToldSoFar: Equatable {
    var shape: UInt64 = 0
    var place: UInt64 = 0
}

/// The pointer: each page is sent the latest shape and position, at most 60 times per second, and never more while it
/// has unread data.
///
/// In a room that has had several tracks, a page receives only the pointers of the tracks that it watches.
final class Pointers {
    /// The time between two updates, which gives 58 a second.
    private static let period = Interval.milliseconds(17)

    private let rooms: HostRooms
    private let log: LogRateLimiter
    private let context: OpaquePointer
    private let post: Post<Pointers>
    private var pointers: [TrackAddress: RoomPointer] = [:]
    /// The timers for postponed decisions.
    private var decisions: [TrackAddress: EventSource] = [:]
    /// The tracks that players and callers watch, who can't draw a pointer, by the participant's identifier.
    private var plainReaders: [String: TrackAddress] = [:]
    /// The last updates of each pointer that each member has been sent.
    private var told: [MemberID: [TrackName: PointerToldSoFar]] = [:]
    /// Runs while there are updates to send.
    private var timer: EventSource?

    init(rooms: HostRooms, log: LogRateLimiter, on context: OpaquePointer, post: @escaping Post<Pointers>) {
        self.rooms = rooms
        self.log = log
        self.context = context
        self.post = post
    }

    /// Handles a track that was added to `room`.
    func trackAdded(to room: String) {
        for address in rooms.addresses(in: room) {
            var pointer = pointers[address] ?? RoomPointer()
            if let label = rooms.label(of: address) { pointer.name(label) }
            pointers[address] = pointer
        }
        decide(in: room)
    }

    func trackRemoved(_ address: TrackAddress) {
        pointers[address] = nil
        decisions[address] = nil
    }

    /// Takes the updates of a track's pointer that other threads have stored.
    func takeNews(of key: PointerBoard.Key, from board: PointerBoard) {
        guard let news = board.take(key), let address = rooms.address(of: key.track, in: key.room),
            var pointer = pointers[address]
        else { return }
        if let shape = news.shape { pointer.note(shape) }
        if let place = news.place { pointer.note(place) }
        if let drawn = news.arePicturesDrawn { pointer.arePicturesDrawn = drawn }
        if let ability = news.ability { pointer.hasSource = ability }
        if let readers = news.readers { pointer.readers = max(0, readers) }
        pointers[address] = pointer
        if news.ability != nil || news.readers != nil { decide(address) }
        show()
    }

    func stop() {
        timer = nil
        decisions = [:]
    }
}

// MARK: - Who draws it

extension Pointers {
    /// Records which track a player or caller watches; nil if none. The caller has `decide` called.
    func setPlainReader(_ participant: String, of address: TrackAddress?) {
        plainReaders[participant] = address
    }

    /// Decides again how the pointers of `room` are drawn. Must be called whenever its audience changes.
    func decide(in room: String) {
        for address in rooms.addresses(in: room) { decide(address) }
    }

    private func decide(_ address: TrackAddress) {
        guard var pointer = pointers[address] else { return }
        var audience = PointerPolicy.Audience()
        audience.hasPointerSource = pointer.hasSource
        audience.pages = rooms.directory.viewers(in: address.room).count
        audience.plainReaders =
            pointer.readers + rooms.directory.peerCount(of: address.track, in: address.room)
            + plainReaders.values.count { $0 == address }
        let now = MonotonicTime.now()
        let hasChanged = pointer.policy.decide(for: audience, at: now)
        pointers[address] = pointer
        if hasChanged {
            let whose = rooms.label(of: address).map { "the pointer of \($0)" } ?? "the pointer"
            let isDrawn = pointer.policy.isDrawn
            log(of: "").info(
                "room \(address.room): \(whose) is \(isDrawn ? "drawn into the pictures" : "drawn by the pages")")
            rooms[address]?.media.setPointerDrawn(isDrawn)
            // If the pointer was drawn into the pictures until now, the pages don't know its position.
            show()
        } else if let due = pointer.policy.due {
            // A timer's whole milliseconds must not end before the change is due.
            let wait = due - now + .milliseconds(1)
            decisions[address] = EventSource.timer(every: wait, on: context, of: self) { pointers in
                pointers.decide(address)
                return false
            }
        }
    }
}

// MARK: - Telling the pages

extension Pointers {
    /// Forgets which updates a member has been sent, because it has joined a room or left.
    func forget(_ member: MemberID) {
        told[member] = nil
    }

    /// Sends a page the whole state of the pointer: when the page joins or, in a room that has had several tracks,
    /// starts to watch.
    func tell(of address: TrackAddress, to member: RoomMember) {
        guard let pointer = pointers[address] else { return }
        told[member.id, default: [:]][address.track] = pointer.told
        if let shape = pointer.shape { member.socket.send(frame: shape.frame) }
        if let place = pointer.place { member.socket.send(frame: place.frame) }
        if let drawn = pointer.arePicturesDrawn {
            member.socket.send(PointerEvent.mode(isDrawn: drawn, track: pointer.label))
        }
    }

    /// Notifies a page of the first picture of its session in which the pointer is drawn, or no longer drawn.
    func watch(_ session: ClientSession, of address: TrackAddress, for id: MemberID) {
        guard rooms.directory.viewers(in: address.room).contains(id) else { return }
        session.side.watchPointer(session.id) { [post, key = session.key] change in
            post { pointers in
                guard let member = pointers.rooms[id], member.sessions[address.track]?.key == key else { return }
                let label = pointers.rooms.label(of: address)
                member.socket.send(PointerEvent.mode(isDrawn: change.isDrawn, rtp: change.timestamp, track: label))
            }
        }
    }

    /// Sends new updates to the pages now. If there were any, checks again after a period.
    private func show() {
        guard timer == nil, tellAll() else { return }
        timer = EventSource.timer(every: Self.period, on: context, of: self) { pointers in
            if pointers.tellAll() { return true }
            pointers.timer = nil
            return false
        }
    }

    /// Sends each page the latest updates that it doesn't have. Returns whether there were any for any page.
    private func tellAll() -> Bool {
        var isNews = false
        for (address, pointer) in pointers where pointer.isApart {
            for member in rooms.viewers(in: address.room) {
                let before = told[member.id]?[address.track] ?? PointerToldSoFar()
                guard before != pointer.told,
                    pointer.label == nil || rooms.directory.isWatching(member.id, address.track)
                else { continue }
                isNews = true
                // A page that hasn't read the last update gets the latest one once it has.
                guard !member.socket.hasUnsent else { continue }
                // First, because sending may end the member, which is then forgotten.
                told[member.id, default: [:]][address.track] = pointer.told
                if before.shape != pointer.told.shape, let shape = pointer.shape {
                    member.socket.send(frame: shape.frame)
                }
                if before.place != pointer.told.place, let place = pointer.place {
                    member.socket.send(frame: place.frame)
                }
            }
        }
        return isNews
    }
}
