import CXCB
import Glibc

/// Reads the events of a capture's connection, and keeps what is about the connection or the screen as a whole: errors
/// of requests without a reply, and news of the screen's layout.
final class ScreenEvents {
    /// Whether the server reported a new layout of the screen, perhaps of the same size again.
    var isRearranged = false
    private let connection: X11Connection
    private let onWarning: (String) -> Void
    private let randrEvent: UInt8?
    private var lateErrors = 0

    init(_ connection: X11Connection, onWarning: @escaping (String) -> Void) throws(X11CaptureError) {
        self.connection = connection
        self.onWarning = onWarning
        randrEvent = try connection.selectScreenChanges()
    }

    /// Passes all other events to `handle`; returns whether there was any event. Without `isReadable`, these are the
    /// events that came with replies, and this costs no system call.
    func read(isReadable: Bool, _ handle: (UnsafePointer<xcb_generic_event_t>) -> Void) -> Bool {
        var hasRead = false
        while let event = isReadable
            ? xcb_poll_for_event(connection.handle) : xcb_poll_for_queued_event(connection.handle)
        {
            if !keeps(event) { handle(event) }
            free(event)
            hasRead = true
        }
        return hasRead
    }

    private func keeps(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> Bool {
        let type = event.pointee.response_type & 0x7F
        if type == 0 {
            warn(of: event)
            return true
        }
        // Ignore events made with SendEvent: any program can forge them.
        if event.pointee.response_type & 0x80 != 0 { return true }
        let isOfRandR = randrEvent.map { type == $0 || type == $0 + 1 } ?? false
        let isOfRoot =
            type == UInt8(XCB_CONFIGURE_NOTIFY)
            && UnsafePointer(event).cast(to: xcb_configure_notify_event_t.self).window == connection.root
        if isOfRandR || isOfRoot { isRearranged = true }
        return isOfRandR || isOfRoot
    }

    /// Warns of an error from a request without a reply (X protocol, "Errors": the type is 0).
    private func warn(of event: UnsafeMutablePointer<xcb_generic_event_t>) {
        lateErrors += 1
        // The error may come with every picture, so the number of warnings is limited.
        if lateErrors > 10 { return }
        let error = UnsafeRawPointer(event).loadUnaligned(as: xcb_generic_error_t.self)
        onWarning(
            "the X server reports error \(error.error_code) of request \(error.major_code).\(error.minor_code)")
    }
}
