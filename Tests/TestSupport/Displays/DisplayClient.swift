public import CXCB
import Glibc
public import MediaTypes

/// Another program on the display: draws on the root window, has windows of its own, moves the pointer and arranges
/// monitors.
public final class DisplayClient {
    /// There is no such display.
    public struct NoDisplay: Error {}

    public let connection: OpaquePointer
    public let root: xcb_window_t
    /// Whether calls return only when the server has done what they ask for; if not, they return at once.
    public var waits = true
    private let context: xcb_gcontext_t
    private let rootVisual: xcb_visualid_t
    private let rootDepth: UInt8

    public init(_ display: String) throws {
        guard let connection = xcb_connect(display, nil), xcb_connection_has_error(connection) == 0,
            let setup = xcb_get_setup(connection),
            let screen = xcb_setup_roots_iterator(setup).data
        else { throw NoDisplay() }
        self.connection = connection
        root = screen.pointee.root
        rootVisual = screen.pointee.root_visual
        rootDepth = screen.pointee.root_depth
        context = xcb_generate_id(connection)
        xcb_create_gc(connection, context, root, XCB_GC_SUBWINDOW_MODE.rawValue, [UInt32(1)])
    }

    deinit {
        xcb_disconnect(connection)
    }

    /// Fills a rectangle of the screen, or of a window.
    public func fill(
        _ rectangle: PixelRectangle, color: UInt32, on drawable: xcb_drawable_t? = nil, withAlpha: Bool = false
    ) {
        var context = context
        if withAlpha, let drawable {
            // A graphics context works only for drawables of one depth.
            context = xcb_generate_id(connection)
            xcb_create_gc(connection, context, drawable, 0, nil)
        }
        defer { if withAlpha { xcb_free_gc(connection, context) } }
        xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, [color])
        var filled = xcb_rectangle_t(
            x: Int16(rectangle.x), y: Int16(rectangle.y), width: UInt16(rectangle.width),
            height: UInt16(rectangle.height))
        xcb_poly_fill_rectangle(connection, drawable ?? root, context, 1, &filled)
        wait()
    }

    /// Gives the root window a background of one colour, as `xsetroot` does.
    public func background(_ color: UInt32) {
        let tile = xcb_generate_id(connection)
        xcb_create_pixmap(connection, rootDepth, tile, root, 1, 1)
        fill(PixelRectangle(x: 0, y: 0, width: 1, height: 1), color: color, on: tile)
        xcb_change_window_attributes(connection, root, XCB_CW_BACK_PIXMAP.rawValue, [tile])
        xcb_clear_area(connection, 0, root, 0, 0, 0, 0)
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), root, atom("_XSETROOT_ID"),
            xcb_atom_t(XCB_ATOM_PIXMAP.rawValue), 32, 1, [tile])
        wait()
    }

    /// Makes a window of one colour, which the server itself paints.
    public func window(
        _ area: PixelRectangle, color: UInt32, title: String? = nil, className: String? = nil,
        parent: xcb_window_t? = nil, border: Int = 0, isMapped: Bool = true, isOverrideRedirect: Bool = false
    ) -> xcb_window_t {
        let window = xcb_generate_id(connection)
        xcb_create_window(
            connection, UInt8(XCB_COPY_FROM_PARENT), window, parent ?? root, Int16(area.x), Int16(area.y),
            UInt16(area.width), UInt16(area.height), UInt16(border), UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
            rootVisual,
            XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BORDER_PIXEL.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue,
            [color, 0x00FFFF, isOverrideRedirect ? 1 : 0])
        if let title { self.title(window, title) }
        if let className {
            property(window, xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue), Array("instance\0\(className)\0".utf8))
        }
        if isMapped { xcb_map_window(connection, window) }
        wait()
        return window
    }

    /// Makes and maps a window without pixels, which takes input alone.
    public func inputWindow(_ area: PixelRectangle) -> xcb_window_t {
        let window = xcb_generate_id(connection)
        xcb_create_window(
            connection, 0, window, root, Int16(area.x), Int16(area.y), UInt16(area.width), UInt16(area.height), 0,
            UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue), 0, 0, nil)
        map(window)
        return window
    }

    /// Makes a window of depth 32; nil if the screen has no such visual.
    public func windowWithAlpha(_ area: PixelRectangle) -> xcb_window_t? {
        var depths = xcb_screen_allowed_depths_iterator(xcb_setup_roots_iterator(xcb_get_setup(connection)).data)
        while depths.rem > 0 {
            if depths.data.pointee.depth == 32, let visual = xcb_depth_visuals_iterator(depths.data).data {
                let colors = xcb_generate_id(connection)
                let number = visual.pointee.visual_id
                xcb_create_colormap(connection, UInt8(XCB_COLORMAP_ALLOC_NONE.rawValue), colors, root, number)
                let window = xcb_generate_id(connection)
                // A window whose depth differs from its parent's needs its own border and colours.
                xcb_create_window(
                    connection, 32, window, root, Int16(area.x), Int16(area.y), UInt16(area.width),
                    UInt16(area.height), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), number,
                    XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BORDER_PIXEL.rawValue | XCB_CW_COLORMAP.rawValue,
                    [0, 0, colors])
                map(window)
                return window
            }
            xcb_depth_next(&depths)
        }
        return nil
    }

    public func title(_ window: xcb_window_t, _ text: String) {
        property(window, xcb_atom_t(XCB_ATOM_WM_NAME.rawValue), Array(text.utf8))
        wait()
    }

    public func map(_ window: xcb_window_t) {
        xcb_map_window(connection, window)
        wait()
    }

    public func unmap(_ window: xcb_window_t) {
        xcb_unmap_window(connection, window)
        wait()
    }

    public func destroy(_ window: xcb_window_t) {
        xcb_destroy_window(connection, window)
        wait()
    }

    public func move(_ window: xcb_window_t, to x: Int, _ y: Int) {
        configure(window, XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue, [x, y])
    }

    public func resize(_ window: xcb_window_t, _ width: Int, _ height: Int) {
        configure(window, XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue, [width, height])
    }

    public func raise(_ window: xcb_window_t) {
        configure(window, XCB_CONFIG_WINDOW_STACK_MODE.rawValue, [Int(XCB_STACK_MODE_ABOVE.rawValue)])
    }

    public func reparent(_ window: xcb_window_t, into parent: xcb_window_t) {
        xcb_reparent_window(connection, window, parent, 0, 0)
        wait()
    }

    /// Gives the root window a pointer of its own, and moves it.
    public func showPointer(at place: (x: Int, y: Int), glyph: Int = 68) {
        let font = xcb_generate_id(connection)
        xcb_open_font(connection, font, 6, "cursor")
        let cursor = xcb_generate_id(connection)
        // A glyph of the cursor font (68 is an arrow) and its mask; white on black.
        xcb_create_glyph_cursor(
            connection, cursor, font, font, UInt16(glyph), UInt16(glyph + 1), 0xFFFF, 0xFFFF, 0xFFFF, 0, 0, 0)
        xcb_change_window_attributes(connection, root, XCB_CW_CURSOR.rawValue, [cursor])
        warp(to: place)
    }

    /// Moves the pointer as a program does: no raw event reports it.
    public func warp(to place: (x: Int, y: Int)) {
        xcb_warp_pointer(connection, 0, root, 0, 0, 0, 0, Int16(place.x), Int16(place.y))
        wait()
    }

    /// Moves the pointer as a mouse does (XTEST).
    public func moveMouse(to place: (x: Int, y: Int)) {
        xcb_test_fake_input(
            connection, UInt8(XCB_MOTION_NOTIFY), 0, 0, root, Int16(place.x), Int16(place.y), 0)
        wait()
    }

    /// Presses or releases a button of the mouse where the pointer is (XTEST).
    public func button(_ number: UInt8, isDown: Bool) {
        xcb_test_fake_input(
            connection, UInt8(isDown ? XCB_BUTTON_PRESS : XCB_BUTTON_RELEASE), number, 0, root, 0, 0, 0)
        wait()
    }

    /// Presses and releases the key with this code (XTEST). Escape is 9 on all of Xorg's keyboards.
    public func type(key: UInt8) {
        for kind in [XCB_KEY_PRESS, XCB_KEY_RELEASE] {
            xcb_test_fake_input(connection, UInt8(kind), key, 0, root, 0, 0, 0)
        }
        wait()
    }

    /// Presses the keys with these codes together, and releases them in reverse order (XTEST). On all of Xorg's
    /// keyboards, Control is 37, Alt is 64, Caps Lock is 66, and P is 33.
    public func type(keysTogether codes: [UInt8]) {
        for code in codes { xcb_test_fake_input(connection, UInt8(XCB_KEY_PRESS), code, 0, root, 0, 0, 0) }
        for code in codes.reversed() { xcb_test_fake_input(connection, UInt8(XCB_KEY_RELEASE), code, 0, root, 0, 0, 0) }
        wait()
    }

    /// Whether another client has grabbed the pointer.
    public var isPointerGrabbed: Bool {
        let cookie = xcb_grab_pointer(
            connection, 0, root, 0, UInt8(XCB_GRAB_MODE_ASYNC.rawValue), UInt8(XCB_GRAB_MODE_ASYNC.rawValue), 0, 0,
            UInt32(XCB_CURRENT_TIME))
        let reply = xcb_grab_pointer_reply(connection, cookie, nil)
        defer { free(reply) }
        let isFree = reply.map { UInt32($0.pointee.status) == XCB_GRAB_STATUS_SUCCESS.rawValue } ?? false
        if isFree { xcb_ungrab_pointer(connection, UInt32(XCB_CURRENT_TIME)) }
        wait()
        return !isFree
    }

    /// The window that is seen at a place of the screen, a child of the root window; 0 if there is none.
    public func topWindow(at place: (x: Int, y: Int)) -> xcb_window_t {
        let cookie = xcb_translate_coordinates(connection, root, root, Int16(place.x), Int16(place.y))
        let reply = xcb_translate_coordinates_reply(connection, cookie, nil)
        defer { free(reply) }
        return reply?.pointee.child ?? 0
    }

    /// Makes a monitor, or changes it, as `xrandr --setmonitor` does.
    public func setMonitor(_ name: String, _ area: PixelRectangle, isPrimary: Bool = false) {
        guard let data = xcb_get_extension_data(connection, shim_xcb_randr_id()) else { return }
        // Until it has been asked for its version, the server takes us for an older client.
        free(xcb_randr_query_version_reply(connection, xcb_randr_query_version(connection, 1, 5), nil))
        // The server doesn't change a monitor that already exists.
        xcb_randr_delete_monitor(connection, root, atom(name))
        func pair(_ low: Int, _ high: Int) -> UInt32 {
            UInt32(UInt16(truncatingIfNeeded: low)) | UInt32(UInt16(truncatingIfNeeded: high)) << 16
        }
        // RRSetMonitor (RandR 1.5): minor opcode 43, the window, and MONITORINFO without outputs.
        var request: [UInt32] = [
            0, root, atom(name), isPrimary ? 1 : 0, pair(area.x, area.y),
            pair(area.width, area.height), 100, 100,
        ]
        request[0] = 43 << 8 | UInt32(request.count) << 16
        _ = shim_xcb_send(connection, data.pointee.major_opcode, &request, request.count, 1)
        wait()
    }

    public func deleteMonitor(_ name: String) {
        xcb_randr_delete_monitor(connection, root, atom(name))
        wait()
    }

    /// Turns the screen saver on or off.
    public func saveScreen(_ on: Bool) {
        xcb_force_screen_saver(
            connection, UInt8(on ? XCB_SCREEN_SAVER_ACTIVE.rawValue : XCB_SCREEN_SAVER_RESET.rawValue))
        wait()
    }

    public func atom(_ name: String) -> xcb_atom_t {
        let reply = xcb_intern_atom_reply(
            connection, xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name), nil)
        defer { free(reply) }
        return reply?.pointee.atom ?? 0
    }

    public func text(_ window: xcb_window_t, _ name: String, _ text: String) {
        property(window, atom(name), Array(text.utf8))
        wait()
    }

    public func numbers(_ window: xcb_window_t, _ name: String, _ values: [UInt32]) {
        let integer = xcb_atom_t(XCB_ATOM_INTEGER.rawValue)
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom(name), integer, 32,
            UInt32(values.count), values)
        wait()
    }

    private func property(_ window: xcb_window_t, _ atom: xcb_atom_t, _ bytes: [UInt8]) {
        xcb_change_property(
            connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom, xcb_atom_t(XCB_ATOM_STRING.rawValue), 8,
            UInt32(bytes.count), bytes)
    }

    private func configure(_ window: xcb_window_t, _ mask: some BinaryInteger, _ values: [Int]) {
        xcb_configure_window(connection, window, UInt16(mask), values.map { UInt32(bitPattern: Int32($0)) })
        wait()
    }

    /// Waits until the server has done everything that it was asked for.
    private func wait() {
        if !waits {
            xcb_flush(connection)
            return
        }
        free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil))
    }
}
