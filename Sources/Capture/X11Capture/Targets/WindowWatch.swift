import CXCB
import MediaTypes

/// Follows the state of one window and of the windows around it, such as the frame that its window manager put it in.
struct WindowWatch {
    /// Whether its size and map state have to be queried again.
    var isStale = true
    private(set) var isDestroyed = false
    private let connection: X11Connection
    private let window: xcb_window_t
    /// The windows that it lies in, up to the child of the root window.
    private var around: [xcb_window_t] = []
    private var isAroundKnown = false

    init(_ connection: X11Connection, _ window: xcb_window_t) throws(X11CaptureError) {
        self.connection = connection
        self.window = window
        connection.select(UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue), on: window)
    }

    /// Handles an event. A configure event that keeps the width, height and border of `keeping` only moves the window,
    /// which changes nothing for the caller.
    mutating func take(
        _ event: UnsafePointer<xcb_generic_event_t>, keeping: (width: Int, height: Int, border: Int)?
    ) {
        switch Int32(event.pointee.response_type & 0x7F) {
        case XCB_DESTROY_NOTIFY:
            let destroyed = event.cast(to: xcb_destroy_notify_event_t.self)
            if destroyed.window == window { isDestroyed = true }
            if destroyed.event == destroyed.window, around.contains(destroyed.window) {
                isAroundKnown = false
                isStale = true
            }
        case XCB_MAP_NOTIFY: if isOurs(event.cast(to: xcb_map_notify_event_t.self).event) { isStale = true }
        case XCB_UNMAP_NOTIFY: if isOurs(event.cast(to: xcb_unmap_notify_event_t.self).event) { isStale = true }
        case XCB_REPARENT_NOTIFY:
            guard isOurs(event.cast(to: xcb_reparent_notify_event_t.self).event) else { return }
            isAroundKnown = false
            isStale = true
        case XCB_CONFIGURE_NOTIFY:
            let configured = event.cast(to: xcb_configure_notify_event_t.self)
            let now = (Int(configured.width), Int(configured.height), Int(configured.border_width))
            if configured.event != window { return }
            if let keeping, keeping == now { return }
            isStale = true
        default: break
        }
    }

    /// Finds the windows that the window lies in now. It gets no event itself when one of them is unmapped.
    mutating func findFrame() throws(X11CaptureError) {
        if isAroundKnown { return }
        isAroundKnown = true
        let new = Array(try WindowSearch(connection).path(of: window)?.dropFirst() ?? [])
        if new == around { return }
        around = new
        for window in new { connection.select(UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue), on: window) }
    }

    private func isOurs(_ event: xcb_window_t) -> Bool { event == window || around.contains(event) }
}

extension UnsafePointer<xcb_generic_event_t> {
    /// The event as the structure that its type implies.
    func cast<Event>(to type: Event.Type) -> Event { UnsafeRawPointer(self).loadUnaligned(as: type) }
}
