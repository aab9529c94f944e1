import CXCB
import Glibc
import MediaTypes
import X11Capture

/// Another program on the display: draws on the root window and moves the pointer.
final class Client {
    private let connection: OpaquePointer
    private let root: xcb_window_t
    private let context: xcb_gcontext_t

    init(_ display: String) throws {
        guard let connection = xcb_connect(display, nil), let setup = xcb_get_setup(connection),
            let screen = xcb_setup_roots_iterator(setup).data
        else { throw X11CaptureError.cannotOpen(display: display) }
        self.connection = connection
        root = screen.pointee.root
        context = xcb_generate_id(connection)
        xcb_create_gc(connection, context, root, XCB_GC_SUBWINDOW_MODE.rawValue, [UInt32(1)])
    }

    deinit {
        xcb_disconnect(connection)
    }

    /// Fills a rectangle of the screen.
    func fill(_ rectangle: PixelRectangle, color: UInt32) {
        xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, [color])
        var filled = xcb_rectangle_t(
            x: Int16(rectangle.x), y: Int16(rectangle.y), width: UInt16(rectangle.width),
            height: UInt16(rectangle.height))
        xcb_poly_fill_rectangle(connection, root, context, 1, &filled)
        wait()
    }

    /// Gives the root window a pointer of its own, and moves it.
    func showPointer(at place: (x: Int, y: Int)) {
        let font = xcb_generate_id(connection)
        xcb_open_font(connection, font, 6, "cursor")
        let cursor = xcb_generate_id(connection)
        // An arrow: glyph 68 of the cursor font and its mask; white on black.
        xcb_create_glyph_cursor(connection, cursor, font, font, 68, 69, 0xFFFF, 0xFFFF, 0xFFFF, 0, 0, 0)
        xcb_change_window_attributes(connection, root, XCB_CW_CURSOR.rawValue, [cursor])
        xcb_warp_pointer(connection, 0, root, 0, 0, 0, 0, Int16(place.x), Int16(place.y))
        wait()
    }

    /// Until the server has done all of it.
    private func wait() {
        free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil))
    }
}
