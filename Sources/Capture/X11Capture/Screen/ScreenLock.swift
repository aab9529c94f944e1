import CXCB
import Glibc

/// Tracks whether the screen is locked or blanked, by MIT-SCREEN-SAVER, by the property that xscreensaver sets on the
/// root window, and by the windows of screen lockers.
final class ScreenLock {
    /// Whether any of these says that the screen is locked or blanked.
    var isLocked: Bool { isSaverOn || isNoted || windows.coverScreen }
    /// Whether the server reports its own screen saver.
    var hasSaver: Bool { notifyEvent != nil }
    private let connection: X11Connection
    private let notifyEvent: UInt8?
    private let status: xcb_atom_t
    private let windows: CoveringWindows
    private var isSaverOn = false
    private var isNoted = false
    private var isNoteOutdated = true

    init(_ connection: X11Connection) throws(X11CaptureError) {
        self.connection = connection
        status = try connection.atoms(["_SCREENSAVER_STATUS"])[0]
        connection.select(UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue), on: connection.root)
        windows = try CoveringWindows(connection)
        let first = connection.firstEvent(of: shim_xcb_screensaver_id())
        notifyEvent = first.map { $0 + UInt8(XCB_SCREENSAVER_NOTIFY) }
        if first != nil {
            xcb_screensaver_select_input(
                connection.handle, connection.root,
                UInt32(XCB_SCREENSAVER_EVENT_NOTIFY_MASK.rawValue | XCB_SCREENSAVER_EVENT_CYCLE_MASK.rawValue))
            let cookie = xcb_screensaver_query_info(connection.handle, connection.root)
            if let info = xcb_screensaver_query_info_reply(connection.handle, cookie, nil) {
                isSaverOn = info.pointee.state == UInt8(XCB_SCREENSAVER_STATE_ON.rawValue)
                free(info)
            }
        }
        try update()
    }

    /// Handles an event.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) {
        let type = event.pointee.response_type & 0x7F
        if let notifyEvent, type == notifyEvent {
            let state = event.cast(to: xcb_screensaver_notify_event_t.self).state
            isSaverOn =
                state == UInt8(XCB_SCREENSAVER_STATE_ON.rawValue)
                || state == UInt8(XCB_SCREENSAVER_STATE_CYCLE.rawValue)
        } else if type == UInt8(XCB_PROPERTY_NOTIFY) {
            let changed = event.cast(to: xcb_property_notify_event_t.self)
            if changed.window == connection.root, changed.atom == status { isNoteOutdated = true }
        } else {
            windows.take(event)
        }
    }

    /// Notes that the screen's layout has changed.
    func invalidate() { windows.invalidate() }

    /// Reads xscreensaver's property if it has changed, and queries new windows. Call it after the events have been
    /// handled.
    func update() throws(X11CaptureError) {
        if isNoteOutdated {
            isNoteOutdated = false
            let cookie = xcb_get_property(connection.handle, 0, connection.root, status, 0 /* any type */, 0, 1)
            let note = connection.number(cookie)
            try connection.check()
            // It is 0 while the screen shows its usual content; otherwise it is the atom BLANK or LOCK, or flags.
            isNoted = (note ?? 0) != 0
        }
        try windows.update()
    }
}
