import CXCB
import Glibc
import MediaTypes

/// A picture of the screen that is put together from the windows' own pixmaps (Composite), as a compositing manager
/// does it, with black instead of some windows.
///
/// The pixels of those windows are never asked for. So no picture can have any, whatever the screen shows at the
/// moment: a window that fades out or is being minimised, a compositor that repaints late, a program that doesn't
/// repaint.
final class ScreenCompositor {
    /// A window of the stack, as it is drawn.
    struct Layer {
        var window: xcb_window_t
        /// The area, including the border, in the root window's coordinates.
        var area: PixelRectangle
        var border: Int
        var visual: xcb_visualid_t
        /// Whether it is black in the picture.
        var isBlank: Bool

        /// The top left corner inside the border.
        var origin: (x: Int, y: Int) { (area.x + border, area.y + border) }
    }

    /// What is drawn, the lowest window first.
    var layers: [Layer] = []
    /// The pixmap with the picture. It has the size of the root window.
    private(set) var canvas: xcb_pixmap_t = 0
    private let connection: X11Connection
    private let formats: [xcb_visualid_t: PictureFormat]
    private let damageEvent: UInt8
    private let shapeEvent: UInt8
    private let backdrop: Backdrop
    private var windows: [xcb_window_t: ComposedWindow] = [:]
    private var target: xcb_render_picture_t = 0
    private var size = PictureSize(width: 0, height: 0)
    // Of the server's, for one pass at a time.
    private let remaining: xcb_xfixes_region_t
    private let place: xcb_xfixes_region_t
    private let blanked: xcb_xfixes_region_t

    private struct PictureFormat {
        var identifier: xcb_render_pictformat_t
        var hasAlpha: Bool
    }

    /// Throws if the server lacks an extension that this needs.
    init(_ connection: X11Connection) throws(X11CaptureError) {
        guard let damageEvent = connection.firstEvent(of: shim_xcb_damage_id()),
            let shapeEvent = connection.firstEvent(of: shim_xcb_shape_id()),
            connection.firstEvent(of: shim_xcb_xfixes_id()) != nil,
            connection.firstEvent(of: shim_xcb_composite_id()) != nil,
            connection.firstEvent(of: shim_xcb_render_id()) != nil
        else { throw .cannotHide(display: connection.display) }
        try connection.announceComposition()
        self.connection = connection
        self.damageEvent = damageEvent + UInt8(XCB_DAMAGE_NOTIFY)
        self.shapeEvent = shapeEvent + UInt8(XCB_SHAPE_NOTIFY)
        formats = try Self.formats(connection)
        remaining = connection.emptyRegion()
        place = connection.emptyRegion()
        blanked = connection.emptyRegion()
        backdrop = try Backdrop(connection, format: formats[connection.rootVisual]?.identifier ?? 0)
        try resize()
    }

    /// Gives each window a pixmap of its own, if no compositing manager does so already.
    func redirect() throws(X11CaptureError) {
        let redirected = xcb_composite_redirect_subwindows_checked(
            connection.handle, connection.root, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
        if !connection.succeeds(redirected) { throw .cannotHide(display: connection.display) }
    }

    /// Whether `window` has a pixmap of its own.
    func isRedirected(_ window: xcb_window_t) -> Bool {
        let pixmap = xcb_generate_id(connection.handle)
        let isNamed = connection.succeeds(
            xcb_composite_name_window_pixmap_checked(connection.handle, window, pixmap))
        if isNamed { xcb_free_pixmap(connection.handle, pixmap) }
        return isNamed
    }

    /// Adapts to the root window's size.
    func resize() throws(X11CaptureError) {
        let size = try connection.rootSize()
        if size == self.size { return }
        self.size = size
        if target != 0 { xcb_render_free_picture(connection.handle, target) }
        if canvas != 0 { xcb_free_pixmap(connection.handle, canvas) }
        (canvas, target) = (xcb_generate_id(connection.handle), xcb_generate_id(connection.handle))
        xcb_create_pixmap(
            connection.handle, UInt8(clamping: connection.rootDepth), canvas, connection.root,
            UInt16(clamping: size.width), UInt16(clamping: size.height))
        xcb_render_create_picture(
            connection.handle, target, canvas, formats[connection.rootVisual]?.identifier ?? 0, 0, nil)
    }

    /// Begins to follow a window; nothing happens if it is followed already.
    func follow(_ window: xcb_window_t) {
        if windows[window] == nil { windows[window] = ComposedWindow(connection, window) }
    }

    /// The window, if it is followed.
    func window(_ window: xcb_window_t) -> ComposedWindow? { windows[window] }

    /// No longer follows a window: it is gone, or must not be seen.
    func forget(_ window: xcb_window_t) { windows[window] = nil }

    /// Notes that `window` no longer covers `area` of the root window since the event with this number.
    func uncover(_ area: PixelRectangle, _ window: xcb_window_t, _ sequence: UInt32) {
        for layer in layers where layer.window != window && !layer.area.intersection(area).isEmpty {
            windows[layer.window]?.uncover(area.moved(x: -layer.origin.x, y: -layer.origin.y), sequence)
        }
    }

    /// Handles an event; returns whether it was one of damage or of shapes. `reshaped` is called with a window whose
    /// shape has changed.
    func take(_ event: UnsafePointer<xcb_generic_event_t>, reshaped: (xcb_window_t) -> Void) -> Bool {
        switch event.pointee.response_type & 0x7F {
        case damageEvent:
            let window = event.cast(to: xcb_damage_notify_event_t.self).drawable
            windows[window]?.takeDamage(event.pointee.full_sequence)
        case shapeEvent:
            let window = event.cast(to: xcb_shape_notify_event_t.self).affected_window
            windows[window]?.outdateShape()
            reshaped(window)
        default: return false
        }
        return true
    }

    /// Handles a property of the root window that changed; returns whether its background may be another now.
    func takeRootProperty(_ atom: xcb_atom_t) -> Bool { backdrop.take(atom) }
}

extension ScreenCompositor: DamageSource {
    var isDamaged: Bool { layers.contains { !$0.isBlank && windows[$0.window]?.isDamaged == true } }

    func wasDamaged(before request: UInt32) -> Bool {
        layers.contains { !$0.isBlank && windows[$0.window]?.wasDamaged(before: request) == true }
    }

    /// What was drawn on windows, as far as no opaque window covers it.
    func sendRequest() -> xcb_xfixes_fetch_region_cookie_t {
        connection.set(remaining, [])
        for (index, layer) in layers.enumerated() where !layer.isBlank {
            guard let window = windows[layer.window], window.isDamaged else { continue }
            window.askDamage()
            connection.translate(window.part, layer.origin)
            for above in layers[(index + 1)...] where !above.area.intersection(layer.area).isEmpty {
                if above.isBlank {
                    connection.set(place, [above.area])
                    xcb_xfixes_subtract_region(connection.handle, window.part, place, window.part)
                } else if let cover = windows[above.window], isOpaque(above) {
                    cover.updateCover(above.origin)
                    xcb_xfixes_subtract_region(connection.handle, window.part, cover.cover, window.part)
                }
            }
            xcb_xfixes_union_region(connection.handle, remaining, window.part, remaining)
        }
        return xcb_xfixes_fetch_region(connection.handle, remaining)
    }

    /// Draws these parts of the root window into `canvas`.
    func draw(_ parts: [PixelRectangle]) {
        guard let bounds = parts.reduce(nil, { $0?.union($1) ?? $1 }) else { return }
        connection.set(remaining, parts)
        connection.set(blanked, [])
        // From the top: how much of each window is visible. Nothing is drawn twice, except below what lets it through.
        var visible: [(layer: Layer, window: ComposedWindow, format: PictureFormat)] = []
        for layer in layers.reversed() where !layer.area.intersection(bounds).isEmpty {
            if layer.isBlank {
                connection.set(place, [layer.area])
                xcb_xfixes_intersect_region(connection.handle, remaining, place, place)
                xcb_xfixes_union_region(connection.handle, blanked, place, blanked)
                xcb_xfixes_subtract_region(connection.handle, remaining, place, remaining)
            } else if let window = windows[layer.window], let format = formats[layer.visual] {
                window.updateCover(layer.origin)
                xcb_xfixes_intersect_region(connection.handle, remaining, window.cover, window.part)
                if !format.hasAlpha {
                    xcb_xfixes_subtract_region(connection.handle, remaining, window.part, remaining)
                }
                visible.append((layer, window, format))
            }
        }
        clip(remaining)
        fill(bounds)
        if backdrop.picture != 0 { composite(backdrop.picture, in: size.whole) }
        clip(blanked)
        fill(bounds)
        for (layer, window, format) in visible.reversed() {
            clip(window.part)
            window.name(format.identifier)
            composite(window.picture, in: layer.area, hasAlpha: format.hasAlpha)
        }
    }

    private func clip(_ region: xcb_xfixes_region_t) {
        xcb_xfixes_set_picture_clip_region(connection.handle, target, region, 0, 0)
    }

    private func isOpaque(_ layer: Layer) -> Bool { formats[layer.visual]?.hasAlpha == false }

    private func composite(_ picture: xcb_render_picture_t, in area: PixelRectangle, hasAlpha: Bool = false) {
        let operation = hasAlpha ? XCB_RENDER_PICT_OP_OVER : XCB_RENDER_PICT_OP_SRC
        connection.forget(
            xcb_render_composite_checked(
                connection.handle, UInt8(operation.rawValue), picture, 0, target, 0, 0, 0, 0, Int16(clamping: area.x),
                Int16(clamping: area.y), UInt16(clamping: area.width), UInt16(clamping: area.height)))
    }

    private func fill(_ area: PixelRectangle) {
        let rectangle = xcb_rectangle_t(
            x: Int16(clamping: area.x), y: Int16(clamping: area.y), width: UInt16(clamping: area.width),
            height: UInt16(clamping: area.height))
        let black = xcb_render_color_t(red: 0, green: 0, blue: 0, alpha: 0xFFFF)
        withUnsafePointer(to: rectangle) {
            _ = xcb_render_fill_rectangles(
                connection.handle, UInt8(XCB_RENDER_PICT_OP_SRC.rawValue), target, black, 1, $0)
        }
    }

    /// The format of pictures of each visual, and whether it has transparency.
    private static func formats(
        _ connection: X11Connection
    ) throws(X11CaptureError) -> [xcb_visualid_t: PictureFormat] {
        let cookie = xcb_render_query_pict_formats(connection.handle)
        let reply = try connection.reply(to: "RenderQueryPictFormats") {
            xcb_render_query_pict_formats_reply(connection.handle, cookie, &$0)
        }
        defer { free(reply) }
        var transparent: Set<xcb_render_pictformat_t> = []
        let known = UnsafeBufferPointer(
            start: xcb_render_query_pict_formats_formats(reply),
            count: max(0, Int(xcb_render_query_pict_formats_formats_length(reply))))
        for format in known where format.direct.alpha_mask != 0 { transparent.insert(format.id) }
        var result: [xcb_visualid_t: PictureFormat] = [:]
        var screens = xcb_render_query_pict_formats_screens_iterator(reply)
        while screens.rem > 0 {
            var depths = xcb_render_pictscreen_depths_iterator(screens.data)
            while depths.rem > 0 {
                let visuals = UnsafeBufferPointer(
                    start: xcb_render_pictdepth_visuals(depths.data),
                    count: max(0, Int(xcb_render_pictdepth_visuals_length(depths.data))))
                for visual in visuals {
                    result[visual.visual] = PictureFormat(
                        identifier: visual.format, hasAlpha: transparent.contains(visual.format))
                }
                xcb_render_pictdepth_next(&depths)
            }
            xcb_render_pictscreen_next(&screens)
        }
        return result
    }
}
