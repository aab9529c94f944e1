import CXCB
import ColorConversion
import Glibc
import MediaTypes

/// A window over the whole screen that has the shape of what is drawn on it, and takes no input.
///
/// All its pixels are opaque, with a compositing manager as well: what it shows can then be told from the screen.
final class OverlayWindow {
    private let connection: X11Connection
    private let format: ScreenToPlanes.PixelFormat
    private let window: xcb_window_t
    private let context: xcb_gcontext_t
    private var size = PictureSize(width: 1, height: 1)
    private var isMapped = false
    private var fonts: [Bool: xcb_font_t] = [:]
    private var metrics: [String: Metrics] = [:]

    private struct Metrics {
        var font: xcb_font_t
        var letters: [xcb_char2b_t]
        var ascent: Int
        var size: PictureSize
    }

    private static let margin = (x: 4, y: 1)
    private static let maxLetters = 24

    /// Returns nil if the server can't give windows a shape for input (SHAPE 1.1).
    init?(_ connection: X11Connection) throws(X11CaptureError) {
        guard connection.firstEvent(of: shim_xcb_shape_id()) != nil else { return nil }
        let cookie = xcb_shape_query_version(connection.handle)
        let version = try connection.reply(to: "ShapeQueryVersion") {
            xcb_shape_query_version_reply(connection.handle, cookie, &$0)
        }
        defer { free(version) }
        if (version.pointee.major_version, version.pointee.minor_version) < (1, 1) { return nil }
        self.connection = connection
        format = connection.pixels.format
        window = xcb_generate_id(connection.handle)
        context = xcb_generate_id(connection.handle)
        // Without a background, the server paints nothing before we do.
        xcb_create_window(
            connection.handle, UInt8(clamping: connection.rootDepth), window, connection.root, 0, 0, 1, 1, 0,
            UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), connection.rootVisual,
            XCB_CW_BACK_PIXMAP.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue,
            [UInt32(XCB_BACK_PIXMAP_NONE.rawValue), 1])
        xcb_create_gc(connection.handle, context, window, 0, nil)
        setShape(UInt8(XCB_SHAPE_SK_INPUT.rawValue), [])
        setShape(UInt8(XCB_SHAPE_SK_BOUNDING.rawValue), [])
        try describe()
    }

    deinit {
        xcb_free_gc(connection.handle, context)
        xcb_destroy_window(connection.handle, window)
    }

    /// Says what the window is, so that compositing managers draw no shadow and fade nothing in.
    private func describe() throws(X11CaptureError) {
        let atoms = try connection.atoms(["_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DND"])
        xcb_change_property(
            connection.handle, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atoms[0],
            xcb_atom_t(XCB_ATOM_ATOM.rawValue), 32, 1, [atoms[1]])
        let text = Array("screenrelay-pointing\0ScreenRelay\0".utf8)
        xcb_change_property(
            connection.handle, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window,
            xcb_atom_t(XCB_ATOM_WM_CLASS.rawValue), xcb_atom_t(XCB_ATOM_STRING.rawValue), 8, UInt32(text.count), text)
    }

    /// The size of a name with its margins.
    func labelSize(_ name: String) -> PictureSize { metrics(of: name)?.size ?? PictureSize(width: 0, height: 0) }

    /// Shows `drawing`, moved by `origin`, on a root window of size `screen`. The caller flushes the connection.
    func show(_ drawing: PointingDrawing, at origin: (x: Int, y: Int), on screen: PictureSize) {
        // A window as large as the screen may be taken for a full-screen one, which compositing managers treat apart.
        let wanted = PictureSize(width: max(1, screen.width - 1), height: screen.height)
        if wanted != size {
            size = wanted
            configure(
                XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue,
                [UInt32(clamping: size.width), UInt32(clamping: size.height)])
        }
        let moved = drawing.rectangles.map { $0.moved(x: origin.x, y: origin.y) }
        setShape(UInt8(XCB_SHAPE_SK_BOUNDING.rawValue), moved)
        if !moved.isEmpty {
            // Nothing happens if it is on top already.
            configure(XCB_CONFIG_WINDOW_STACK_MODE.rawValue, [UInt32(XCB_STACK_MODE_ABOVE.rawValue)])
            if !isMapped { xcb_map_window(connection.handle, window) }
            isMapped = true
        }
        for fill in drawing.fills { draw(fill.rectangles, fill.color, origin) }
        for label in drawing.labels {
            draw([label.area], label.background, origin)
            draw(label, at: origin)
        }
    }

    /// Takes the window off the screen.
    func unmap() {
        if !isMapped { return }
        xcb_unmap_window(connection.handle, window)
        xcb_flush(connection.handle)
        isMapped = false
        metrics = [:]
    }

    private func configure(_ mask: UInt32, _ values: [UInt32]) {
        xcb_configure_window(connection.handle, window, UInt16(truncatingIfNeeded: mask), values)
    }

    private func setShape(_ kind: UInt8, _ rectangles: [PixelRectangle]) {
        let values = Self.values(rectangles)
        xcb_shape_rectangles(
            connection.handle, UInt8(XCB_SHAPE_SO_SET.rawValue), kind, UInt8(XCB_CLIP_ORDERING_UNSORTED.rawValue),
            window, 0, 0, UInt32(values.count), values)
    }

    private func draw(_ rectangles: [PixelRectangle], _ color: UInt32, _ origin: (x: Int, y: Int)) {
        xcb_change_gc(connection.handle, context, XCB_GC_FOREGROUND.rawValue, [format.pixel(of: color)])
        let values = Self.values(rectangles.map { $0.moved(x: origin.x, y: origin.y) })
        xcb_poly_fill_rectangle(connection.handle, window, context, UInt32(values.count), values)
    }

    private func draw(_ label: PointingDrawing.Label, at origin: (x: Int, y: Int)) {
        guard let metrics = metrics(of: label.name) else { return }
        xcb_change_gc(
            connection.handle, context,
            XCB_GC_FOREGROUND.rawValue | XCB_GC_BACKGROUND.rawValue | XCB_GC_FONT.rawValue,
            [format.pixel(of: PointingDrawing.white), format.pixel(of: label.background), metrics.font])
        xcb_image_text_16(
            connection.handle, UInt8(clamping: metrics.letters.count), window, context,
            Int16(clamping: label.area.x + origin.x + Self.margin.x),
            Int16(clamping: label.area.y + origin.y + Self.margin.y + metrics.ascent), metrics.letters)
    }

    private static func values(_ rectangles: [PixelRectangle]) -> [xcb_rectangle_t] {
        rectangles.map {
            xcb_rectangle_t(
                x: Int16(clamping: $0.x), y: Int16(clamping: $0.y), width: UInt16(clamping: $0.width),
                height: UInt16(clamping: $0.height))
        }
    }
}

/// Names, in the fonts that the server has.
extension OverlayWindow {
    private func metrics(of name: String) -> Metrics? {
        if let known = metrics[name] { return known }
        let letters = PrintableText.plain(name.unicodeScalars.prefix(Self.maxLetters)).unicodeScalars.map { scalar in
            let code = UInt16(exactly: scalar.value) ?? UInt16(UInt8(ascii: "?"))
            return xcb_char2b_t(byte1: UInt8(code >> 8), byte2: UInt8(code & 0xFF))
        }
        // From here on, letters are Chinese, Japanese or Korean.
        guard let font = font(isWide: name.unicodeScalars.contains { $0.value >= 0x2E80 }) else { return nil }
        let cookie = xcb_query_text_extents(connection.handle, font, UInt32(letters.count), letters)
        guard let extents = xcb_query_text_extents_reply(connection.handle, cookie, nil) else { return nil }
        defer { free(extents) }
        let (ascent, descent) = (Int(extents.pointee.font_ascent), Int(extents.pointee.font_descent))
        let new = Metrics(
            font: font, letters: letters, ascent: ascent,
            size: PictureSize(
                width: max(0, Int(extents.pointee.overall_width)) + 2 * Self.margin.x,
                height: max(0, ascent + descent) + 2 * Self.margin.y))
        // Viewers can change their names again and again.
        if metrics.count >= 200 { metrics = [:] }
        metrics[name] = new
        return new
    }

    private func font(isWide: Bool) -> xcb_font_t? {
        if let known = fonts[isWide] { return known == 0 ? nil : known }
        let wide = ["-misc-fixed-medium-r-normal-ja-18-*-*-*-*-*-iso10646-1"]
        let usual = ["-misc-fixed-medium-r-normal--15-*-*-*-*-*-iso10646-1", "fixed"]
        for name in (isWide ? wide : []) + usual {
            let font = xcb_generate_id(connection.handle)
            let opened = xcb_open_font_checked(connection.handle, font, UInt16(clamping: name.utf8.count), name)
            guard connection.succeeds(opened) else { continue }
            fonts[isWide] = font
            return font
        }
        fonts[isWide] = 0
        return nil
    }
}
