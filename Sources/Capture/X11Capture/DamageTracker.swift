import CXCB
import Glibc
import MediaTypes

/// Asks the X server's Damage extension what has been drawn on a window and all that is in it.
final class DamageTracker {
    /// Whether something was drawn since the last `take`.
    private(set) var isDamaged = true
    private let connection: X11Connection
    private let notifyEvent: UInt8
    private let damage: xcb_damage_damage_t
    private let region: xcb_xfixes_region_t
    private let isCreated: Bool
    private var lastAsked: UInt32 = 0

    /// nil where the server has no Damage or no XFixes extension, or doesn't let us use it.
    ///
    /// Which version of XFixes we know has been said to the server before.
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
        // One event when the damage stops being empty, and no other until it is taken: a busy screen costs no events.
        let created = xcb_damage_create_checked(
            connection.handle, damage, window, UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue))
        let hasRegion = xcb_xfixes_create_region_checked(connection.handle, region, 0, nil)
        // Without this look a screen whose damage is kept from us would be one that never changes.
        isCreated = connection.succeeds(created)
        if !connection.succeeds(hasRegion) || !isCreated { return nil }
    }

    deinit {
        if !isCreated { return }
        // The damage of a window that has been destroyed has gone with it.
        connection.forget(xcb_damage_destroy_checked(connection.handle, damage))
        connection.forget(xcb_xfixes_destroy_region_checked(connection.handle, region))
        xcb_flush(connection.handle)
    }

    /// Whether the event was ours.
    func take(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
        if event.pointee.response_type & 0x7F != notifyEvent { return false }
        // It bears the number of the last request that was carried out before. What it tells of may have been asked since.
        if Int32(bitPattern: event.pointee.full_sequence &- lastAsked) >= 0 { isDamaged = true }
        return true
    }

    /// Asks what was drawn since the last call; what is drawn from now on counts for the next one.
    func ask() -> xcb_xfixes_fetch_region_cookie_t {
        isDamaged = false
        lastAsked = xcb_damage_subtract(connection.handle, damage, 0, region).sequence
        return xcb_xfixes_fetch_region(connection.handle, region)
    }

    /// Adds the answer to `changes`, each rectangle moved by `offset`.
    func collect(
        _ cookie: xcb_xfixes_fetch_region_cookie_t, movedBy offset: (x: Int, y: Int),
        into changes: inout [PixelRectangle]
    ) throws(X11CaptureError) {
        let reply = try connection.reply(to: "XFixesFetchRegion") {
            xcb_xfixes_fetch_region_reply(connection.handle, cookie, &$0)
        }
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
