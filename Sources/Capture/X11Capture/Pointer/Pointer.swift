import CXCB
import CaptureEngine
import Clocks
import Glibc
import MediaTypes

/// The pointer's position and shape (XFixes), for a screen whose pictures don't include it.
final class Pointer {
    private(set) var shape = PointerShape()
    /// Counts the changes of the shape.
    private(set) var shapeNumber = 0
    /// The position in the coordinates of the window that was queried; nil while the pointer is on another screen.
    private(set) var place: (x: Int, y: Int)?
    let motion: PointerMotion
    private(set) var isShapeStale: Bool
    private let connection: X11Connection
    private let notifyEvent: UInt8?
    private let timed: ServerTimedPointerQueries?
    private let onWarning: (String) -> Void
    // Whether an answer has come since the last look.
    private var hasAnswer = false
    // When to request the shape again that the server refused; nil if it didn't refuse the last time.
    private var nextShapeAttempt: MonotonicTime?
    private var wasShapeEverRefused = false

    // A shape with more pixels than this is ignored.
    private static let maxPixels = 1 << 20
    /// How long to wait before the shape is requested again after the server refused it. No event reports that it would
    /// hand it out now.
    private static let refusalPeriod = Interval.seconds(1)

    /// Without XFixes, the position is known, but not the shape. Without SYNC and XInput 2, or without a second
    /// connection, looks cost more.
    init(_ connection: X11Connection, onWarning: @escaping (String) -> Void) throws(X11CaptureError) {
        self.connection = connection
        self.onWarning = onWarning
        let firstEvent = connection.firstEvent(of: shim_xcb_xfixes_id())
        notifyEvent = firstEvent.map { $0 + UInt8(XCB_XFIXES_CURSOR_NOTIFY) }
        isShapeStale = firstEvent != nil
        let timed = try Self.timedLooks(connection, onWarning)
        if let timed { motion = timed.motion } else { motion = try PointerMotion(connection) }
        self.timed = timed?.looks
        if firstEvent == nil { return }
        xcb_xfixes_select_cursor_input(
            connection.handle, connection.root, UInt32(XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue))
        xcb_flush(connection.handle)
    }

    /// Whether the server reports the pointer's shape.
    var hasShape: Bool { notifyEvent != nil }

    /// Looks that the server times, and a motion tracker whose raw events arrive in order with them; nil if that isn't
    /// possible.
    private static func timedLooks(
        _ connection: X11Connection, _ onWarning: (String) -> Void
    ) throws(X11CaptureError) -> (looks: ServerTimedPointerQueries, motion: PointerMotion)? {
        do throws(X11CaptureError) {
            guard let looks = try ServerTimedPointerQueries(display: connection.display) else { return nil }
            let motion = try PointerMotion(looks.connection)
            return motion.isTold ? (looks, motion) : nil
        } catch {
            try connection.check()
            onWarning("following the pointer costs twice as much: no second connection (\(error))")
            return nil
        }
    }

    /// A descriptor that is readable when the server has sent something about the pointer; -1 if that comes with
    /// everything else.
    var fileDescriptor: Int32 { timed?.connection.fileDescriptor ?? -1 }

    /// Whether the server is still sending positions, or has sent one that no look has taken yet.
    var isFollowed: Bool { hasAnswer || timed?.isUnderway == true }

    /// The time of the next look.
    var nextLook: MonotonicTime {
        if hasAnswer { return .zero }
        // The server answers within a period.
        if timed?.isUnderway == true { return .distantFuture }
        return isShapeStale ? motion.nextHurriedLook : motion.nextLook
    }

    /// Reads what has arrived on the second connection.
    func readAnswers(isReadable: Bool, _ now: MonotonicTime) throws(X11CaptureError) {
        try timed?.read(isReadable: isReadable, take: { _ = motion.take($0) }) { answer in
            hasAnswer = true
            motion.noteLook(now, moved: answer.map { move($0.pointee) } ?? false)
        }
    }

    /// Updates the position, in the coordinates of `window`, and the shape if it has changed.
    ///
    /// While the server times the looks, the position is the one that `readAnswers` took; otherwise this costs a round
    /// trip.
    func look(_ window: xcb_window_t, _ now: MonotonicTime) throws(X11CaptureError) {
        if let nextShapeAttempt, now >= nextShapeAttempt { isShapeStale = true }
        guard let timed else {
            if try receiveReply(sendRequest(window), now) { _ = try receiveReply(sendRequest(window), now) }
            return
        }
        if isShapeStale || !isFollowed { _ = try receiveReply(sendRequest(window), now) }
        hasAnswer = false
        if timed.isUnderway || !motion.isMoving { return }
        if motion.seemsAtRest {
            motion.settle()
            timed.sendRequest(window)
        } else {
            timed.sendRequestsAhead(window)
        }
    }

    /// Reads the answers to `cookie`; returns true if the pointer has to be queried again.
    func receiveReply(_ cookie: Cookie, _ now: MonotonicTime) throws(X11CaptureError) -> Bool {
        let moved = try receiveReply(cookie)
        if timed == nil { return motion.looked(now, moved: moved) }
        motion.noteLook(now, moved: moved)
        return false
    }

    /// Handles an event; returns whether it was about the pointer.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
        if let notifyEvent, event.pointee.response_type & 0x7F == notifyEvent {
            isShapeStale = true
            return true
        }
        return motion.take(event)
    }

    /// Requests that haven't been answered yet.
    struct Cookie {
        var place: xcb_query_pointer_cookie_t
        var shape: xcb_xfixes_get_cursor_image_cookie_t?
    }

    /// Requests the position, in the coordinates of `window`, and the shape if it has changed.
    func sendRequest(_ window: xcb_window_t) -> Cookie {
        let place = xcb_query_pointer(connection.handle, window)
        if !isShapeStale { return Cookie(place: place, shape: nil) }
        isShapeStale = false
        return Cookie(place: place, shape: xcb_xfixes_get_cursor_image(connection.handle))
    }

    /// Reads the answers; returns whether the pointer has moved.
    private func receiveReply(_ cookie: Cookie) throws(X11CaptureError) -> Bool {
        if let cookie = cookie.shape { try receiveShape(cookie) }
        let position: UnsafeMutablePointer<xcb_query_pointer_reply_t>
        do throws(X11CaptureError) {
            position = try connection.reply(to: "QueryPointer") {
                xcb_query_pointer_reply(connection.handle, cookie.place, &$0)
            }
        } catch {
            // The window has just been closed; its events are handled elsewhere.
            guard case .requestRefused = error else { throw error }
            return false
        }
        defer { free(position) }
        return move(position.pointee)
    }

    private func move(_ position: xcb_query_pointer_reply_t) -> Bool {
        let before = place
        place = position.same_screen == 0 ? nil : (Int(position.win_x), Int(position.win_y))
        return before?.x != place?.x || before?.y != place?.y
    }

    private func receiveShape(_ cookie: xcb_xfixes_get_cursor_image_cookie_t) throws(X11CaptureError) {
        guard let image = try shapeReply(cookie) else { return }
        defer { free(image) }
        let reply = image.pointee
        let pixels = UnsafeBufferPointer(
            start: xcb_xfixes_get_cursor_image_cursor_image(image),
            count: max(0, Int(xcb_xfixes_get_cursor_image_cursor_image_length(image))))
        var new = PointerShape()
        let count = Int(reply.width) * Int(reply.height)
        if count <= Self.maxPixels, pixels.count >= count {
            new = PointerShape(
                width: Int(reply.width), height: Int(reply.height), hotX: Int(reply.xhot), hotY: Int(reply.yhot),
                pixels: Array(pixels.prefix(count)))
        }
        if new == shape { return }
        shape = new
        shapeNumber += 1
    }

    /// The server's reply, which the caller frees; nil if the server refused. The last known shape then stays.
    ///
    /// A server with the SECURITY extension refuses (BadAccess) while the pointer's shape belongs to a client that has
    /// left, such as `xsetroot` or a program that was killed.
    private func shapeReply(
        _ cookie: xcb_xfixes_get_cursor_image_cookie_t
    ) throws(X11CaptureError) -> UnsafeMutablePointer<xcb_xfixes_get_cursor_image_reply_t>? {
        do throws(X11CaptureError) {
            let reply = try connection.reply(to: "XFixesGetCursorImage") {
                xcb_xfixes_get_cursor_image_reply(connection.handle, cookie, &$0)
            }
            nextShapeAttempt = nil
            return reply
        } catch {
            guard case .requestRefused = error else { throw error }
            nextShapeAttempt = .now() + Self.refusalPeriod
            if !wasShapeEverRefused { onWarning("the pointer keeps its last shape or is left out for now: \(error)") }
            wasShapeEverRefused = true
            return nil
        }
    }
}
