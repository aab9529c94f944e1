import CXCB
import Glibc
import MediaTypes

/// Where the pointer is.
public struct PointerState: Equatable, Sendable {
    /// The column that it points at, in pixels of the captured area; may lie outside of it.
    public var x: Int
    /// The row that it points at.
    public var y: Int
    /// Whether it points at something in the captured area, and has a shape that shows.
    public var isVisible: Bool

    /// A pointer there.
    public init(x: Int, y: Int, isVisible: Bool) {
        self.x = x
        self.y = y
        self.isVisible = isVisible
    }
}

/// Where the pointer is and what it looks like (XFixes), for a screen whose pictures come without it.
final class Pointer {
    private(set) var shape = PointerShape()
    /// Counts the shapes.
    private(set) var shapeNumber = 0
    /// In the coordinates of the window that was asked; nil while it is on another screen.
    private(set) var place: (x: Int, y: Int)?
    let motion: PointerMotion
    private(set) var isShapeOutdated: Bool
    private let connection: X11Connection
    private let notifyEvent: UInt8?
    private let timed: TimedLooks?
    // An answer has come since the last look.
    private var hasAnswer = false

    // A shape with more pixels than that is taken for none.
    private static let mostPixels = 1 << 20

    /// Without XFixes there is a place, but no shape. Without SYNC and XInput 2, or a second connection, looks cost more.
    init(_ connection: X11Connection, onWarning: (String) -> Void) throws(X11CaptureError) {
        self.connection = connection
        let firstEvent = connection.firstEvent(of: shim_xcb_xfixes_id())
        notifyEvent = firstEvent.map { $0 + UInt8(XCB_XFIXES_CURSOR_NOTIFY) }
        isShapeOutdated = firstEvent != nil
        let timed = try Self.timedLooks(connection, onWarning)
        if let timed { motion = timed.motion } else { motion = try PointerMotion(connection) }
        self.timed = timed?.looks
        if firstEvent == nil { return }
        xcb_xfixes_select_cursor_input(
            connection.handle, connection.root, UInt32(XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue))
        xcb_flush(connection.handle)
    }

    /// Whether the server tells what it looks like.
    var hasShape: Bool { notifyEvent != nil }

    /// Looks that the server times, and raw events that come in order with them; nil where there is no way to that.
    private static func timedLooks(
        _ connection: X11Connection, _ onWarning: (String) -> Void
    ) throws(X11CaptureError) -> (looks: TimedLooks, motion: PointerMotion)? {
        do throws(X11CaptureError) {
            guard let looks = try TimedLooks(display: connection.display) else { return nil }
            let motion = try PointerMotion(looks.connection)
            return motion.isTold ? (looks, motion) : nil
        } catch {
            try connection.check()
            onWarning("following the pointer costs twice as much: no second connection (\(error))")
            return nil
        }
    }

    /// Readable when the server has sent something about the pointer; -1 where that comes with all else.
    var fileDescriptor: Int32 { timed?.connection.fileDescriptor ?? -1 }

    /// Whether the server goes on telling where it is, or has told what no look has taken yet.
    var isFollowed: Bool { hasAnswer || timed?.isUnderway == true }

    /// When to look next.
    var nextLook: MonotonicTime {
        if hasAnswer { return .zero }
        // The answer comes within a period.
        if timed?.isUnderway == true { return .distantFuture }
        return isShapeOutdated ? motion.nextHurriedLook : motion.nextLook
    }

    /// Takes what has come on the second connection.
    func readAnswers(isReadable: Bool, _ now: MonotonicTime) throws(X11CaptureError) {
        try timed?.read(isReadable: isReadable, take: { _ = motion.take($0) }) { answer in
            hasAnswer = true
            motion.noteLook(now, moved: answer.map { move($0.pointee) } ?? false)
        }
    }

    /// Sees where it is, in the coordinates of `window`, and what it looks like where that has changed.
    ///
    /// While the server times the looks, that is what `readAnswers` took; else a round trip.
    func look(_ window: xcb_window_t, _ now: MonotonicTime) throws(X11CaptureError) {
        guard let timed else {
            if try look(ask(window), now) { _ = try look(ask(window), now) }
            return
        }
        if isShapeOutdated || !isFollowed { _ = try look(ask(window), now) }
        hasAnswer = false
        if timed.isUnderway || !motion.isMoving { return }
        if motion.seemsAtRest {
            motion.settle()
            timed.ask(window)
        } else {
            timed.askAhead(window)
        }
    }

    /// Takes the answers about the pointer; true where it has to be looked for once more.
    func look(_ question: Question, _ now: MonotonicTime) throws(X11CaptureError) -> Bool {
        let moved = try collect(question)
        if timed == nil { return motion.looked(now, moved: moved) }
        motion.noteLook(now, moved: moved)
        return false
    }

    /// Whether the event was ours.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
        if let notifyEvent, event.pointee.response_type & 0x7F == notifyEvent {
            isShapeOutdated = true
            return true
        }
        return motion.take(event)
    }

    /// Questions on their way.
    struct Question {
        var place: xcb_query_pointer_cookie_t
        var shape: xcb_xfixes_get_cursor_image_cookie_t?
    }

    /// Asks where it is, in the coordinates of `window`, and for its shape where that has changed.
    func ask(_ window: xcb_window_t) -> Question {
        let place = xcb_query_pointer(connection.handle, window)
        if !isShapeOutdated { return Question(place: place, shape: nil) }
        isShapeOutdated = false
        return Question(place: place, shape: xcb_xfixes_get_cursor_image(connection.handle))
    }

    /// Takes the answers; true where it is elsewhere than before.
    private func collect(_ question: Question) throws(X11CaptureError) -> Bool {
        if let cookie = question.shape { try collectShape(cookie) }
        let position: UnsafeMutablePointer<xcb_query_pointer_reply_t>
        do throws(X11CaptureError) {
            position = try connection.reply(to: "QueryPointer") {
                xcb_query_pointer_reply(connection.handle, question.place, &$0)
            }
        } catch {
            // The window has just been closed: events tell what becomes of that.
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

    private func collectShape(_ cookie: xcb_xfixes_get_cursor_image_cookie_t) throws(X11CaptureError) {
        let image = try connection.reply(to: "XFixesGetCursorImage") {
            xcb_xfixes_get_cursor_image_reply(connection.handle, cookie, &$0)
        }
        defer { free(image) }
        let reply = image.pointee
        let pixels = UnsafeBufferPointer(
            start: xcb_xfixes_get_cursor_image_cursor_image(image),
            count: max(0, Int(xcb_xfixes_get_cursor_image_cursor_image_length(image))))
        var new = PointerShape()
        let count = Int(reply.width) * Int(reply.height)
        if count <= Self.mostPixels, pixels.count >= count {
            new = PointerShape(
                width: Int(reply.width), height: Int(reply.height), hotX: Int(reply.xhot), hotY: Int(reply.yhot),
                pixels: Array(pixels.prefix(count)))
        }
        if new == shape { return }
        shape = new
        shapeNumber += 1
    }
}
