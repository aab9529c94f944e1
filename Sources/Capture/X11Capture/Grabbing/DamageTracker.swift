import CXCB
import Glibc
import MediaTypes

/// Asks the X server's Damage extension what has been drawn on a window and on the windows inside it.
final class DamageTracker: DamageSource {
    /// Whether something was drawn since the last `sendRequest`.
    private(set) var isDamaged = true
    // The last request that had been carried out when something was first drawn since the last `sendRequest`.
    private var damagedSince: UInt32 = 0
    private let connection: X11Connection
    private let notifyEvent: UInt8
    private let damage: xcb_damage_damage_t
    private let region: xcb_xfixes_region_t
    private let isCreated: Bool
    private var lastAsked: UInt32 = 0

    /// Returns nil if the server has no Damage or no XFixes extension, or doesn't let us use it.
    ///
    /// The caller has already negotiated the version of XFixes with the server.
    init?(_ connection: X11Connection, window: xcb_window_t) throws(X11CaptureError) {
        guard let firstEvent = connection.firstEvent(of: shim_xcb_damage_id()),
            connection.firstEvent(of: shim_xcb_xfixes_id()) != nil
        else { return nil }
        let cookie = xcb_damage_query_version(connection.handle, 1, 1)
        free(
            try connection.reply(to: "DamageQueryVersion") {
                xcb_damage_query_version_reply(connection.handle, cookie, &$0)
            })
        self.connection = connection
        notifyEvent = firstEvent + UInt8(XCB_DAMAGE_NOTIFY)
        damage = xcb_generate_id(connection.handle)
        region = xcb_generate_id(connection.handle)
        // The server sends one event when the damage stops being empty, and no other until the damage is fetched, so a
        // busy screen costs no events.
        let created = xcb_damage_create_checked(
            connection.handle, damage, window, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
        let hasRegion = xcb_xfixes_create_region_checked(connection.handle, region, 0, nil)
        // Without this check, a screen whose damage is withheld from us would look like one that never changes.
        isCreated = connection.succeeds(created)
        if !connection.succeeds(hasRegion) || !isCreated { return nil }
    }

    deinit {
        if !isCreated { return }
        // The damage object of a destroyed window is already gone, so errors are ignored.
        connection.forget(xcb_damage_destroy_checked(connection.handle, damage))
        connection.forget(xcb_xfixes_destroy_region_checked(connection.handle, region))
        xcb_flush(connection.handle)
    }

    /// Handles an event; returns whether it was a damage event.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
        if event.pointee.response_type & 0x7F != notifyEvent { return false }
        // The event carries the number of the last request that the server had carried out. Its damage may have been
        // fetched since.
        if !isDamaged, Int32(bitPattern: event.pointee.full_sequence &- lastAsked) >= 0 {
            isDamaged = true
            damagedSince = event.pointee.full_sequence
        }
        return true
    }

    func wasDamaged(before request: UInt32) -> Bool {
        isDamaged && Int32(bitPattern: request &- damagedSince) > 0
    }

    /// Forgets what was drawn since the last `sendRequest`.
    func discard() {
        isDamaged = false
        lastAsked = xcb_damage_subtract(connection.handle, damage, 0, 0).sequence
    }

    func sendRequest() -> xcb_xfixes_fetch_region_cookie_t {
        isDamaged = false
        lastAsked = xcb_damage_subtract(connection.handle, damage, 0, region).sequence
        return xcb_xfixes_fetch_region(connection.handle, region)
    }
}

/// Reports the area drawn on the screen, or on a part of it.
protocol DamageSource: AnyObject {
    /// Whether something was drawn since the last `sendRequest`, as far as events say so.
    var isDamaged: Bool { get }
    /// Whether something was drawn since the last `sendRequest` and before this request was carried out.
    func wasDamaged(before request: UInt32) -> Bool
    /// Requests the area drawn since the last call, as a region; drawing from now on counts for the next call.
    func sendRequest() -> xcb_xfixes_fetch_region_cookie_t
}

extension X11Connection {
    /// Adds the rectangles of a region that was asked for to `changes`, each moved by `offset`.
    func receiveReply(
        _ cookie: xcb_xfixes_fetch_region_cookie_t, movedBy offset: (x: Int, y: Int),
        into changes: inout [PixelRectangle]
    ) throws(X11CaptureError) {
        let reply = try reply(to: "XFixesFetchRegion") { xcb_xfixes_fetch_region_reply(handle, cookie, &$0) }
        defer { free(reply) }
        let rectangles = UnsafeBufferPointer(
            start: xcb_xfixes_fetch_region_rectangles(reply),
            count: max(0, Int(xcb_xfixes_fetch_region_rectangles_length(reply))))
        for rectangle in rectangles {
            changes.append(
                PixelRectangle(
                    x: Int(rectangle.x) + offset.x, y: Int(rectangle.y) + offset.y, width: Int(rectangle.width),
                    height: Int(rectangle.height)))
        }
    }
}
