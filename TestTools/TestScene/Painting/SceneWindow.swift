import CXCB

/// Shows a scene on an X display, in a window that covers the first screen and that no window manager touches.
///
/// Each tick is painted into a pixmap, and each changed rectangle is copied by one request, so that a screen capture
/// never sees half of a change. Use it from one thread at a time; the window goes with the last reference.
public final class SceneWindow {
    /// The scene that is shown.
    public let scene: any Scene
    /// The tick that is currently shown; nil before the first.
    public private(set) var tick: Int?

    private let connection: OpaquePointer
    private let window: xcb_window_t
    private let pixmap: xcb_pixmap_t
    private let context: xcb_gcontext_t
    private let colors: ScenePixelLayout
    private let sheets: SheetPixmaps
    private let root: xcb_window_t

    /// Opens the window on `display` (or on DISPLAY's, if nil), and shows the scene's tick 0. Throws ``SceneError`` if
    /// there is no such display, or if it has no 24-bit colours.
    public init(display: String?, kind: SceneKind, ticksPerSecond: Int = 30) throws(SceneError) {
        var number: Int32 = 0
        guard let connection = xcb_connect(display, &number) else { throw .noDisplay(display) }
        guard xcb_connection_has_error(connection) == 0, let setup = xcb_get_setup(connection) else {
            xcb_disconnect(connection)
            throw .noDisplay(display)
        }
        var screens = xcb_setup_roots_iterator(setup)
        while number > 0, screens.rem > 1 {
            xcb_screen_next(&screens)
            number -= 1
        }
        guard screens.rem > 0, let screen = screens.data, let colors = ScenePixelLayout(screen) else {
            xcb_disconnect(connection)
            throw .noTrueColor(display)
        }
        self.connection = connection
        self.colors = colors
        root = screen.pointee.root
        let (width, height) = (screen.pointee.width_in_pixels, screen.pointee.height_in_pixels)
        window = xcb_generate_id(connection)
        pixmap = xcb_generate_id(connection)
        context = xcb_generate_id(connection)
        scene = kind.scene(width: Int(width), height: Int(height), ticksPerSecond: ticksPerSecond)
        // The values are in the order of the mask's bits: override-redirect, then the event mask.
        let mask = XCB_CW_OVERRIDE_REDIRECT.rawValue | XCB_CW_EVENT_MASK.rawValue
        let values: [UInt32] = [
            Self.hasWindowManager(connection, screen.pointee.root) ? 1 : 0, XCB_EVENT_MASK_EXPOSURE.rawValue,
        ]
        xcb_create_window(
            connection, screen.pointee.root_depth, window, screen.pointee.root, 0, 0, width, height, 0,
            UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), screen.pointee.root_visual, mask, values)
        xcb_create_pixmap(connection, screen.pointee.root_depth, pixmap, window, width, height)
        sheets = SheetPixmaps(
            connection: connection, drawable: window, depth: screen.pointee.root_depth, colors: colors)
        xcb_create_gc(connection, context, pixmap, XCB_GC_GRAPHICS_EXPOSURES.rawValue, [UInt32(0)])
        if scene.pointer(at: 0) != nil { showArrow() }
        xcb_map_window(connection, window)
        try show(tick: 0)
    }

    deinit {
        xcb_disconnect(connection)
    }

    /// Whether somebody would place the window elsewhere. If so, the window must be override-redirect; otherwise it
    /// isn't, because a window of that kind that covers the screen looks like a screen locker's.
    private static func hasWindowManager(_ connection: OpaquePointer, _ root: xcb_window_t) -> Bool {
        let reply = xcb_get_window_attributes_reply(connection, xcb_get_window_attributes(connection, root), nil)
        defer { free(reply) }
        return (reply?.pointee.all_event_masks ?? 0) & XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue != 0
    }

    /// Shows the picture of `tick`, and returns when the X server has drawn it. Throws `connectionLost`.
    public func show(tick: Int) throws(SceneError) {
        var painter = RequestPainter(
            connection: connection, drawable: pixmap, context: context, colors: colors, sheets: sheets)
        let changed = scene.paint(tick: tick, after: self.tick, with: &painter)
        painter.flush()
        for rectangle in changed { copy(rectangle) }
        movePointer(to: tick)
        self.tick = tick
        try settle()
    }

    /// Repaints what has been uncovered, and only that, as most programs do; call it regularly while nothing moves.
    /// Throws `connectionLost`.
    public func settle() throws(SceneError) {
        // The reply comes after everything sent before it was done.
        let reply = xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil)
        guard let reply else { throw .connectionLost }
        free(reply)
        var exposed: [SceneRectangle] = []
        while let event = xcb_poll_for_event(connection) {
            if event.pointee.response_type & 0x7F == UInt8(XCB_EXPOSE) {
                let area = UnsafeRawPointer(event).loadUnaligned(as: xcb_expose_event_t.self)
                exposed.append(SceneRectangle(Int(area.x), Int(area.y), Int(area.width), Int(area.height)))
            }
            free(event)
        }
        for area in exposed { copy(area) }
        if !exposed.isEmpty { xcb_flush(connection) }
        guard xcb_connection_has_error(connection) == 0 else { throw .connectionLost }
    }

    /// Moves the pointer to the scene's position, as a mouse would.
    private func movePointer(to tick: Int) {
        guard let place = scene.pointer(at: tick) else { return }
        if let last = self.tick.flatMap(scene.pointer), last == place { return }
        xcb_test_fake_input(
            connection, UInt8(XCB_MOTION_NOTIFY), 0, 0, root, Int16(clamping: place.x), Int16(clamping: place.y), 0)
    }

    /// Gives the pointer the shape of an arrow, if the X server has its cursor font.
    private func showArrow() {
        let font = xcb_generate_id(connection)
        let cursor = xcb_generate_id(connection)
        xcb_open_font(connection, font, 6, "cursor")
        // The left_ptr glyph and its mask; black with a white edge.
        xcb_create_glyph_cursor(connection, cursor, font, font, 68, 69, 0, 0, 0, 0xFFFF, 0xFFFF, 0xFFFF)
        xcb_change_window_attributes(connection, window, XCB_CW_CURSOR.rawValue, [cursor])
    }

    private func copy(_ rectangle: SceneRectangle) {
        let inside = rectangle.intersection(SceneRectangle(0, 0, scene.width, scene.height))
        guard inside.width > 0, inside.height > 0 else { return }
        let (x, y) = (Int16(clamping: inside.x), Int16(clamping: inside.y))
        xcb_copy_area(
            connection, pixmap, window, context, x, y, x, y, UInt16(clamping: inside.width),
            UInt16(clamping: inside.height))
    }
}

/// The reason why a scene can't be shown.
public enum SceneError: Error, Equatable, CustomStringConvertible {
    /// No X server answers at this display (nil means the one in DISPLAY).
    case noDisplay(String?)
    /// The display's pixels don't consist of red, green and blue bits.
    case noTrueColor(String?)
    /// The connection to the X server has ended.
    case connectionLost

    public var description: String {
        switch self {
        case .noDisplay(nil): "no X server at DISPLAY; name one with --display"
        case .noDisplay(let name?): "no X server at display \"\(name)\""
        case .noTrueColor(let name): "display \"\(name ?? "")\" has no TrueColor visual"
        case .connectionLost: "the X server went away"
        }
    }
}
