import CXCB

/// Paints by X requests. Consecutive rectangles of one colour share a PolyFillRectangle request, and sheets are copied
/// from the X server's own copies.
struct RequestPainter: ScenePainter {
    let connection: OpaquePointer
    let drawable: xcb_drawable_t
    let context: xcb_gcontext_t
    let colors: ScenePixelLayout
    let sheets: SheetPixmaps

    /// The most rectangles in a request: well below the smallest request length limit that a server may have (16 KiB).
    private static let maxRectangles = 1000

    private var color: SceneColor?
    private var rectangles: [xcb_rectangle_t] = []

    init(
        connection: OpaquePointer, drawable: xcb_drawable_t, context: xcb_gcontext_t, colors: ScenePixelLayout,
        sheets: SheetPixmaps
    ) {
        self.sheets = sheets
        self.connection = connection
        self.drawable = drawable
        self.context = context
        self.colors = colors
    }

    mutating func fill(_ rectangle: SceneRectangle, _ color: SceneColor) {
        guard rectangle.width > 0, rectangle.height > 0 else { return }
        if color != self.color || rectangles.count == Self.maxRectangles { flush() }
        self.color = color
        rectangles.append(
            xcb_rectangle_t(
                x: Int16(clamping: rectangle.x), y: Int16(clamping: rectangle.y),
                width: UInt16(clamping: rectangle.width), height: UInt16(clamping: rectangle.height)))
    }

    mutating func draw(_ sheet: SceneSheet, _ part: SceneRectangle, x: Int, y: Int) {
        flush()
        let source = part.intersection(sheet.bounds)
        guard source.width > 0, source.height > 0 else { return }
        guard let pixmap = sheets.pixmap(of: sheet, context: context) else {
            drawPixels(sheet, source, x: x, y: y)
            return
        }
        xcb_copy_area(
            connection, pixmap, drawable, context, Int16(clamping: source.x), Int16(clamping: source.y),
            Int16(clamping: x), Int16(clamping: y), UInt16(clamping: source.width), UInt16(clamping: source.height))
    }

    /// Draws pixel by pixel: slow, but right for pixels of every width.
    private mutating func drawPixels(_ sheet: SceneSheet, _ source: SceneRectangle, x: Int, y: Int) {
        for row in 0..<source.height {
            for column in 0..<source.width {
                let pixel = sheet.pixels[(source.y + row) * sheet.width + source.x + column]
                fill(SceneRectangle(x + column, y + row, 1, 1), SceneColor(packed: pixel))
            }
        }
    }

    /// Sends the gathered rectangles.
    mutating func flush() {
        guard let color, !rectangles.isEmpty else { return }
        xcb_change_gc(connection, context, XCB_GC_FOREGROUND.rawValue, [colors.pixel(color)])
        xcb_poly_fill_rectangle(connection, drawable, context, UInt32(rectangles.count), rectangles)
        rectangles.removeAll(keepingCapacity: true)
    }
}

/// The positions of a TrueColor visual's red, green and blue bits.
struct ScenePixelLayout {
    private let masks: (red: UInt32, green: UInt32, blue: UInt32)

    /// Reads the layout of the screen's root visual; returns nil if that is not a TrueColor visual.
    init?(_ screen: UnsafeMutablePointer<xcb_screen_t>) {
        var depths = xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            var visuals = xcb_depth_visuals_iterator(depths.data)
            while visuals.rem > 0, let visual = visuals.data {
                if visual.pointee.visual_id == screen.pointee.root_visual {
                    guard visual.pointee._class == UInt8(XCB_VISUAL_CLASS_TRUE_COLOR.rawValue) else { return nil }
                    masks = (visual.pointee.red_mask, visual.pointee.green_mask, visual.pointee.blue_mask)
                    return
                }
                xcb_visualtype_next(&visuals)
            }
            xcb_depth_next(&depths)
        }
        return nil
    }

    /// The pixel value of a colour.
    func pixel(_ color: SceneColor) -> UInt32 {
        Self.bits(color.red, masks.red) | Self.bits(color.green, masks.green) | Self.bits(color.blue, masks.blue)
    }

    private static func bits(_ part: UInt8, _ mask: UInt32) -> UInt32 {
        guard mask != 0 else { return 0 }
        let width = mask.nonzeroBitCount
        // Eight bits are scaled to the mask's number of bits, so that 255 remains the maximum.
        let value = (UInt64(part) * ((1 << UInt64(width)) - 1) + 127) / 255
        return UInt32(truncatingIfNeeded: value) << UInt32(mask.trailingZeroBitCount) & mask
    }
}
