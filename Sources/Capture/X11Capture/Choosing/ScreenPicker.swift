import CXCB
import Glibc
public import MediaTypes

/// Lets the user choose on the screen what to capture: a click chooses the window under the pointer, and dragging
/// chooses a region.
///
/// While it waits, the pointer is a crosshair, and no other program gets its clicks or the keyboard's keys. A dragged
/// region has an outline of four windows, which leave nothing behind on the screen. Escape and the other buttons
/// cancel.
public struct ScreenPicker {
    /// The user's choice.
    public struct Choice: Hashable, Sendable {
        /// What to capture.
        public var target: CaptureTarget
        /// A window's title or, without one, its class or identifier; a region's place. Printable.
        public var name: String
    }

    private let connection: X11Connection
    private let escape: [xcb_keycode_t]
    /// The edges of the outline: above, below, left and right.
    private var edges: [xcb_window_t] = []
    private var isOutlineVisible = false

    /// A shorter way with the button held down is a click.
    private static let minDrag = 5
    private static let edge = 2
    private static let outlineColor: UInt32 = 0xE0_20_20
    /// The place of the crosshair in the cursor font (X11/cursorfont.h); its mask is the next one.
    private static let crosshair: UInt16 = 34
    private static let escapeSymbol: xcb_keysym_t = 0xFF1B

    /// Connects to `display`, or to the display that DISPLAY names.
    ///
    /// - Throws: ``X11CaptureError`` if the display can't be opened or its connection ends.
    public init(display: String?) throws(X11CaptureError) {
        connection = try X11Connection(display: display)
        escape = try Self.keycodes(of: Self.escapeSymbol, connection)
    }

    /// Blocks until the user has chosen, and returns the choice; nil if the user cancels.
    ///
    /// - Throws: `pointerGrabbed` if another program keeps the pointer or the keyboard to itself, `displayGone` if the
    ///   connection ends, or `requestRefused`.
    public mutating func pick() throws(X11CaptureError) -> Choice? {
        try grab()
        defer {
            hideOutline()
            xcb_ungrab_keyboard(connection.handle, UInt32(XCB_CURRENT_TIME))
            xcb_ungrab_pointer(connection.handle, UInt32(XCB_CURRENT_TIME))
            // Until this is answered, clicks and the outline are still ours.
            free(xcb_get_input_focus_reply(connection.handle, xcb_get_input_focus(connection.handle), nil))
        }
        var start: (x: Int, y: Int)?
        while let event = xcb_wait_for_event(connection.handle) {
            defer { free(event) }
            switch Int32(event.pointee.response_type & 0x7F) {
            case XCB_KEY_PRESS:
                let key = UnsafePointer(event).cast(to: xcb_key_press_event_t.self).detail
                if escape.contains(key) { return nil }
            case XCB_BUTTON_PRESS:
                let press = UnsafePointer(event).cast(to: xcb_button_press_event_t.self)
                // The wheel is buttons 4 to 7.
                if press.detail == 2 || press.detail == 3 { return nil }
                if press.detail == 1 { start = (Int(press.root_x), Int(press.root_y)) }
            case XCB_MOTION_NOTIFY:
                let motion = UnsafePointer(event).cast(to: xcb_motion_notify_event_t.self)
                guard let start else { continue }
                outline(Self.area(from: start, to: (Int(motion.root_x), Int(motion.root_y))))
            case XCB_BUTTON_RELEASE:
                let release = UnsafePointer(event).cast(to: xcb_button_release_event_t.self)
                guard release.detail == 1, let begin = start else { continue }
                start = nil
                hideOutline()
                let end = (Int(release.root_x), Int(release.root_y))
                if let choice = try choice(from: begin, to: end) { return choice }
            default: break
            }
        }
        try connection.check()
        throw .displayGone(display: connection.display)
    }

    /// The choice of a click or a drag; nil if there is nothing.
    private func choice(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) throws(X11CaptureError) -> Choice? {
        let area = Self.area(from: start, to: end)
        guard max(area.width, area.height) > Self.minDrag else { return try window(at: end) }
        let region = area.intersection(try connection.rootSize().whole)
        guard region.width >= 2, region.height >= 2 else { return nil }
        return Choice(target: .region(region), name: region.named)
    }

    /// The program's window at a place of the screen, or in the frame there.
    private func window(at place: (x: Int, y: Int)) throws(X11CaptureError) -> Choice? {
        let cookie = xcb_translate_coordinates(
            connection.handle, connection.root, connection.root, Int16(clamping: place.x), Int16(clamping: place.y))
        let answer = try connection.reply(to: "TranslateCoordinates") {
            xcb_translate_coordinates_reply(connection.handle, cookie, &$0)
        }
        defer { free(answer) }
        let frame = answer.pointee.child
        let pixel = PixelRectangle(x: place.x, y: place.y, width: 1, height: 1)
        let inFrame = try WindowSearch(connection).programWindows().filter { $0.frame == frame && $0.isViewable }
        guard let found = inFrame.last(where: { !$0.area.intersection(pixel).isEmpty }) ?? inFrame.last else {
            return nil
        }
        let names = [found.title, found.className].map(PrintableText.harmless)
        return Choice(
            target: .window(.identifier(found.identifier)),
            name: names.first { !$0.isEmpty } ?? WindowSelector.identifier(found.identifier).description)
    }

    private static func area(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) -> PixelRectangle {
        PixelRectangle(
            x: min(start.x, end.x), y: min(start.y, end.y), width: abs(end.x - start.x) + 1,
            height: abs(end.y - start.y) + 1)
    }
}

// MARK: Requests

extension ScreenPicker {
    /// Grabs pointer and keyboard, for which a menu that is open must close first.
    private func grab() throws(X11CaptureError) {
        let font = xcb_generate_id(connection.handle)
        xcb_open_font(connection.handle, font, 6, "cursor")
        let cursor = xcb_generate_id(connection.handle)
        xcb_create_glyph_cursor(
            connection.handle, cursor, font, font, Self.crosshair, Self.crosshair + 1, 0, 0, 0, .max, .max, .max)
        let events =
            XCB_EVENT_MASK_BUTTON_PRESS.rawValue | XCB_EVENT_MASK_BUTTON_RELEASE.rawValue
            | XCB_EVENT_MASK_BUTTON_1_MOTION.rawValue
        for attempt in 0... {
            let cookie = xcb_grab_pointer(
                connection.handle, 0, connection.root, UInt16(events), UInt8(XCB_GRAB_MODE_ASYNC.rawValue),
                UInt8(XCB_GRAB_MODE_ASYNC.rawValue), 0, cursor, UInt32(XCB_CURRENT_TIME))
            let answer = try connection.reply(to: "GrabPointer") {
                xcb_grab_pointer_reply(connection.handle, cookie, &$0)
            }
            let status = answer.pointee.status
            free(answer)
            if UInt32(status) == XCB_GRAB_STATUS_SUCCESS.rawValue { break }
            if attempt == Self.maxAttempts { throw .pointerGrabbed }
            poll(nil, 0, 100)
        }
        // Without the keyboard, the right button still cancels.
        let keyboard = xcb_grab_keyboard(
            connection.handle, 0, connection.root, UInt32(XCB_CURRENT_TIME), UInt8(XCB_GRAB_MODE_ASYNC.rawValue),
            UInt8(XCB_GRAB_MODE_ASYNC.rawValue))
        free(xcb_grab_keyboard_reply(connection.handle, keyboard, nil))
    }

    private static var maxAttempts: Int { 50 }

    private mutating func outline(_ area: PixelRectangle) {
        let handle = connection.handle
        if edges.isEmpty {
            edges = (0..<4).map { _ in
                let window = xcb_generate_id(handle)
                xcb_create_window(
                    handle, UInt8(XCB_COPY_FROM_PARENT), window, connection.root, 0, 0, 1, 1, 0,
                    UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), connection.rootVisual,
                    XCB_CW_BACK_PIXEL.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue, [Self.outlineColor, 1])
                return window
            }
        }
        let (edge, width, height) = (Self.edge, area.width + Self.edge * 2, area.height + Self.edge * 2)
        let places = [
            (area.x - edge, area.y - edge, width, edge), (area.x - edge, area.y + area.height, width, edge),
            (area.x - edge, area.y - edge, edge, height), (area.x + area.width, area.y - edge, edge, height),
        ]
        let fields =
            XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue | XCB_CONFIG_WINDOW_WIDTH.rawValue
            | XCB_CONFIG_WINDOW_HEIGHT.rawValue
        for (window, place) in zip(edges, places) {
            let values = [place.0, place.1, place.2, place.3].map { UInt32(bitPattern: Int32(clamping: $0)) }
            xcb_configure_window(handle, window, UInt16(fields), values)
            if !isOutlineVisible { xcb_map_window(handle, window) }
        }
        isOutlineVisible = true
        xcb_flush(handle)
    }

    private mutating func hideOutline() {
        for window in edges { xcb_destroy_window(connection.handle, window) }
        (edges, isOutlineVisible) = ([], false)
        xcb_flush(connection.handle)
    }

    /// The keys that have a symbol in some way.
    private static func keycodes(
        of symbol: xcb_keysym_t, _ connection: X11Connection
    ) throws(X11CaptureError) -> [xcb_keycode_t] {
        guard let setup = xcb_get_setup(connection.handle) else {
            throw .displayGone(display: connection.display)
        }
        let (first, last) = (setup.pointee.min_keycode, setup.pointee.max_keycode)
        let cookie = xcb_get_keyboard_mapping(connection.handle, first, last - first + 1)
        let answer = try connection.reply(to: "GetKeyboardMapping") {
            xcb_get_keyboard_mapping_reply(connection.handle, cookie, &$0)
        }
        defer { free(answer) }
        let symbols = UnsafeBufferPointer(
            start: xcb_get_keyboard_mapping_keysyms(answer),
            count: Int(max(0, xcb_get_keyboard_mapping_keysyms_length(answer))))
        let each = max(1, Int(answer.pointee.keysyms_per_keycode))
        return symbols.indices.filter { symbols[$0] == symbol }.map { first + xcb_keycode_t($0 / each) }
    }
}
