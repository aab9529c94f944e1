import CGLib
import MediaSessions
import MediaTypes
import Rooms

/// The state of a track's pointer.
struct RoomPointer {
    /// The shape, also as an encoded event, and the number of shapes so far.
    var shape: (value: PointerImage, frame: [UInt8], number: UInt64)?
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
    /// What a member knows once it has been told everything.
    var told: PointerToldSoFar { PointerToldSoFar(shape: shape?.number ?? 0, place: place?.number ?? 0) }

    mutating func note(_ value: PointerImage) {
        shape = (value, WebSocketFrame.text(PointerEvent.shape(value, track: label)), (shape?.number ?? 0) + 1)
    }

    mutating func note(_ value: PointerPlace) {
        place = (value, WebSocketFrame.text(PointerEvent.place(value, track: label)), (place?.number ?? 0) + 1)
    }

    /// Makes events name the track, including those that are already encoded.
    mutating func name(_ track: TrackName) {
        guard label == nil else { return }
        label = track
        shape = shape.map { ($0.value, WebSocketFrame.text(PointerEvent.shape($0.value, track: track)), $0.number) }
        place = place.map { ($0.value, WebSocketFrame.text(PointerEvent.place($0.value, track: track)), $0.number) }
    }
}

/// The last updates of a track's pointer that a member has been sent.
struct PointerToldSoFar: Equatable {
    var shape: UInt64 = 0
    var place: UInt64 = 0
}

/// The pointer: each page is sent the latest shape and position, at most 60 times a second, and never more while it has
/// unread data.
///
/// In a room that has had several tracks, a page is told only about the pointers of the tracks that it watches.
extension Site {
    /// The time between two updates in milliseconds, which gives 58 a second.
    private static let pointerPeriod: UInt32 = 17

    /// Takes the updates of a track's pointer that other threads have stored.
    func takePointerNews(of key: PointerBoard.Key, from board: PointerBoard) {
        guard let news = board.take(key), let address = address(of: key.track, in: key.room),
            var pointer = tracks[address]?.pointer
        else { return }
        if let shape = news.shape { pointer.note(shape) }
        if let place = news.place { pointer.note(place) }
        if let drawn = news.arePicturesDrawn { pointer.arePicturesDrawn = drawn }
        if let ability = news.ability { pointer.hasSource = ability }
        if let readers = news.readers { pointer.readers = max(0, readers) }
        tracks[address]?.pointer = pointer
        if news.ability != nil || news.readers != nil { decidePointer(of: address) }
        showPointers()
    }

    /// Decides again how the pointers of `room` are drawn. Called whenever its audience changes.
    func decidePointers(of room: String) {
        for track in directory.tracks(in: room) { decidePointer(of: TrackAddress(room: room, track: track)) }
    }

    /// Makes events name the tracks of `room`, if it has had several.
    func labelPointers(of room: String) {
        guard directory.namesTracks(in: room) else { return }
        for track in directory.tracks(in: room) {
            tracks[TrackAddress(room: room, track: track)]?.pointer.name(track)
        }
    }

    private func decidePointer(of address: TrackAddress) {
        guard var pointer = tracks[address]?.pointer else { return }
        let room = address.room
        let players = playerSessions.values.count { $0.room == room && $0.track == address.track }
        let callers = socketIO.isWatched(address) ? 1 : 0
        var audience = PointerPolicy.Audience()
        audience.hasPointerSource = pointer.hasSource
        audience.pages = directory.viewers(in: room).count
        audience.plainReaders = pointer.readers + directory.peerCount(of: address.track, in: room) + players + callers
        let now = g_get_monotonic_time()
        let hasChanged = pointer.policy.decide(for: audience, at: now)
        tracks[address]?.pointer = pointer
        if hasChanged {
            let whose = label(of: address).map { "the pointer of \($0)" } ?? "the pointer"
            log(
                "room \(room): \(whose) is \(pointer.policy.isDrawn ? "drawn into the pictures" : "drawn by the pages")"
            )
            tracks[address]?.media.setPointerDrawn(pointer.policy.isDrawn)
            // If the pointer was drawn into the pictures until now, the pages don't know its position.
            showPointers()
        } else if let due = pointer.policy.due {
            let wait = UInt32(clamping: (due - now) / 1000 + 1)
            tracks[address]?.pointerDecision = EventSource.timer(every: wait, on: context) { [unowned self] in
                decidePointer(of: address)
                return false
            }
        }
    }

    /// Tells a page everything about the pointer: when it joins or, in a room that has had several tracks, starts to
    /// watch.
    func tellPointer(of address: TrackAddress, to member: RoomMember) {
        guard let pointer = tracks[address]?.pointer else { return }
        member.pointers[address.track] = pointer.told
        if let shape = pointer.shape { member.socket.send(frame: shape.frame) }
        if let place = pointer.place { member.socket.send(frame: place.frame) }
        if let drawn = pointer.arePicturesDrawn {
            member.socket.send(PointerEvent.mode(isDrawn: drawn, track: pointer.label))
        }
    }

    /// Tells a page from which picture of its session on the pointer is drawn, or no longer drawn.
    func watchPointer(of id: MemberID, _ address: TrackAddress, _ session: MemberSession) {
        guard directory.viewers(in: address.room).contains(id) else { return }
        session.side.watchPointer(session.id) { [thread] change in
            thread.post { site in
                guard let member = site.members[id], member.sessions[address.track]?.key == session.key else { return }
                let label = site.label(of: address)
                member.socket.send(PointerEvent.mode(isDrawn: change.isDrawn, rtp: change.timestamp, track: label))
            }
        }
    }

    /// Sends what is new to the pages now. If there was anything, checks again after a period.
    private func showPointers() {
        guard pointerTimer == nil, tellPointers() else { return }
        pointerTimer = EventSource.timer(every: Self.pointerPeriod, on: context) { [unowned self] in
            if tellPointers() { return true }
            pointerTimer = nil
            return false
        }
    }

    /// Sends each page the latest updates that it doesn't have. Returns whether there were any for any page.
    private func tellPointers() -> Bool {
        var isNews = false
        for (address, shared) in tracks where shared.pointer.isApart {
            let pointer = shared.pointer
            for id in directory.viewers(in: address.room) {
                guard let member = members[id] else { continue }
                let told = member.pointers[address.track] ?? PointerToldSoFar()
                guard told != pointer.told, pointer.label == nil || directory.isWatching(id, address.track) else {
                    continue
                }
                isNews = true
                // A page that hasn't read the last update gets the latest one once it has.
                guard !member.socket.hasUnsent else { continue }
                if told.shape != pointer.told.shape, let shape = pointer.shape {
                    member.socket.send(frame: shape.frame)
                }
                if told.place != pointer.told.place, let place = pointer.place {
                    member.socket.send(frame: place.frame)
                }
                member.pointers[address.track] = pointer.told
            }
        }
        return isNews
    }
}
