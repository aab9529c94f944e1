import CXCB
import MediaTypes

/// Follows the state of one window and of the frame that its window manager put it in.
struct WindowWatch {
    /// Whether its size and map state have to be queried again.
    var isOutdated = true
    private(set) var isDestroyed = false
    private let connection: X11Connection
    private let window: xcb_window_t
    private var frame: xcb_window_t = 0
    private var isFrameKnown = false

    init(_ connection: X11Connection, _ window: xcb_window_t) throws(X11CaptureError) {
        self.connection = connection
        self.window = window
        connection.select(UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue), on: window)
    }

    /// Handles an event; returns whether it was about the window or its frame. A configure event that keeps the width,
    /// height and border of `keeping` only moves the window, which changes nothing for the caller.
    mutating func take(
        _ event: UnsafePointer<xcb_generic_event_t>, keeping: (width: Int, height: Int, border: Int)?
    ) -> Bool {
        switch Int32(event.pointee.response_type & 0x7F) {
        case XCB_DESTROY_NOTIFY:
            let destroyed = event.cast(to: xcb_destroy_notify_event_t.self)
            if destroyed.window == window { isDestroyed = true }
            if destroyed.event == frame, destroyed.window == frame {
                isFrameKnown = false
                isOutdated = true
            }
            return destroyed.event == window || destroyed.event == frame
        case XCB_MAP_NOTIFY: return outdate(event.cast(to: xcb_map_notify_event_t.self).event)
        case XCB_UNMAP_NOTIFY: return outdate(event.cast(to: xcb_unmap_notify_event_t.self).event)
        case XCB_REPARENT_NOTIFY:
            let isOurs = outdate(event.cast(to: xcb_reparent_notify_event_t.self).event)
            if isOurs { isFrameKnown = false }
            return isOurs
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.cast(to: xcb_configure_notify_event_t.self)
            if configured.event == window {
                let now = (Int(configured.width), Int(configured.height), Int(configured.border_width))
                if let keeping, keeping == now { return true }
                isOutdated = true
            }
            return configured.event == window || configured.event == frame
        default: return false
        }
    }

    /// Finds the frame that the window is in now. The window itself gets no event when its frame is unmapped.
    mutating func findFrame() throws(X11CaptureError) {
        if isFrameKnown { return }
        isFrameKnown = true
        let new = try WindowSearch(connection).frame(of: window) ?? 0
        if new == frame { return }
        frame = new
        if new != window, new != 0 { connection.select(UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue), on: new) }
    }

    private mutating func outdate(_ event: xcb_window_t) -> Bool {
        if event != window, event != frame { return false }
        isOutdated = true
        return true
    }
}

extension UnsafePointer<xcb_generic_event_t> {
    /// The event as the structure that its type implies.
    func cast<Event>(to type: Event.Type) -> Event { UnsafeRawPointer(self).loadUnaligned(as: type) }
}
