import CGLib
import Rooms

/// What the site knows of a room's pointer.
struct RoomPointer {
    /// What it looks like, as an event, and how many shapes there were.
    var shape: (frame: [UInt8], number: UInt64)?
    /// Where it is, as an event, and how many places there were.
    var place: (frame: [UInt8], number: UInt64)?
    /// Whether the pictures that go out now have it drawn in them; nil before the first.
    var arePicturesDrawn: Bool?
    var hasSource = false
    var readers = 0
    var policy = PointerPolicy()

    /// Whether pages need to know where it is. Not while it is drawn for all: that is what it's drawn for.
    var isApart: Bool { !policy.isDrawn || arePicturesDrawn == false }
}

/// How much of its room's pointer a member has been told.
struct PointerToldSoFar {
    var shape: UInt64 = 0
    var place: UInt64 = 0
}

/// The pointer: to each page the latest shape and place, at most 60 times a second and never behind what it has not yet read.
extension Site {
    /// Milliseconds between two motions: 58 a second.
    private static let pointerPeriod: UInt32 = 17

    /// Takes what other threads have told of the pointer of `room`.
    func takePointerNews(of room: String, from board: PointerBoard) {
        guard let news = board.take(room), media[room] != nil else { return }
        var pointer = pointers[room] ?? RoomPointer()
        if let shape = news.shape {
            let frame = WebSocketFrame.text(PointerEvent.shape(shape))
            pointer.shape = (frame, (pointer.shape?.number ?? 0) + 1)
        }
        if let place = news.place {
            let frame = WebSocketFrame.text(PointerEvent.place(place))
            pointer.place = (frame, (pointer.place?.number ?? 0) + 1)
        }
        if let drawn = news.arePicturesDrawn { pointer.arePicturesDrawn = drawn }
        if let ability = news.ability { pointer.hasSource = ability }
        if let readers = news.readers { pointer.readers = max(0, readers) }
        pointers[room] = pointer
        if news.ability != nil || news.readers != nil { decidePointer(of: room) }
        showPointers()
    }

    /// Decides anew who draws the pointer of `room`; called at each change of its audience.
    func decidePointer(of room: String) {
        var pointer = pointers[room] ?? RoomPointer()
        var audience = PointerPolicy.Audience()
        audience.hasPointerSource = pointer.hasSource
        audience.pages = directory.viewers(in: room).count
        audience.plainReaders =
            pointer.readers + directory.peerCount(in: room) + playerSessions.values.count { $0.room == room }
        let now = g_get_monotonic_time()
        let hasChanged = pointer.policy.decide(for: audience, at: now)
        pointers[room] = pointer
        if hasChanged {
            log(
                "room \(room): the pointer is \(pointer.policy.isDrawn ? "drawn into the pictures" : "drawn by the pages")"
            )
            media[room]?.setPointerDrawn(pointer.policy.isDrawn)
            // Where it was drawn until now, pages don't know where it is.
            showPointers()
        } else if let due = pointer.policy.due {
            let wait = UInt32(clamping: (due - now) / 1000 + 1)
            pointerDecisions[room] = EventSource.timer(every: wait, on: context) { [unowned self] in
                decidePointer(of: room)
                return false
            }
        }
    }

    /// Tells a page that has joined all there is to know.
    func tellPointer(to member: RoomMember, in room: String) {
        guard let pointer = pointers[room] else { return }
        member.pointer = PointerToldSoFar(shape: pointer.shape?.number ?? 0, place: pointer.place?.number ?? 0)
        if let shape = pointer.shape { member.socket.send(frame: shape.frame) }
        if let place = pointer.place { member.socket.send(frame: place.frame) }
        if let drawn = pointer.arePicturesDrawn { member.socket.send(PointerEvent.mode(isDrawn: drawn)) }
    }

    /// Has a page told from which of its session's pictures on the pointer is drawn, or isn't.
    func watchPointer(of id: MemberID, in room: String, session: MediaSessionID, key: UInt64) {
        guard directory.viewers(in: room).contains(id) else { return }
        media[room]?.watchPointer(session) { [thread] isDrawn, timestamp in
            thread.post { site in
                guard let member = site.members[id], member.session?.key == key else { return }
                member.socket.send(PointerEvent.mode(isDrawn: isDrawn, rtp: timestamp))
            }
        }
    }

    /// Tells pages what is new now, and looks again after a while where there was something.
    private func showPointers() {
        guard pointerTimer == nil, tellPointers() else { return }
        pointerTimer = EventSource.timer(every: Self.pointerPeriod, on: context) { [unowned self] in
            if tellPointers() { return true }
            pointerTimer = nil
            return false
        }
    }

    /// Tells each page the latest that it doesn't know; whether there was anything for anybody.
    private func tellPointers() -> Bool {
        var isNews = false
        for (room, pointer) in pointers where pointer.isApart {
            for id in directory.viewers(in: room) {
                guard let member = members[id] else { continue }
                let isShapeNews = member.pointer.shape != pointer.shape?.number ?? 0
                let isPlaceNews = member.pointer.place != pointer.place?.number ?? 0
                guard isShapeNews || isPlaceNews else { continue }
                isNews = true
                // Who has not read the last gets the one that is the latest by then.
                guard !member.socket.hasUnsent else { continue }
                if isShapeNews, let shape = pointer.shape { member.socket.send(frame: shape.frame) }
                if isPlaceNews, let place = pointer.place { member.socket.send(frame: place.frame) }
                member.pointer = PointerToldSoFar(
                    shape: pointer.shape?.number ?? 0, place: pointer.place?.number ?? 0)
            }
        }
        return isNews
    }
}
