import CXCB

/// The X server's copies of a scene's sheets. A sheet is sent when it is first drawn; from then on, drawing is a copy
/// within the server.
final class SheetPixmaps {
    private let connection: OpaquePointer
    private let drawable: xcb_drawable_t
    private let depth: UInt8
    private let colors: ScenePixelLayout
    private let hasWidePixels: Bool
    private var pixmaps: [ObjectIdentifier: xcb_pixmap_t] = [:]

    /// The number of bytes in a PutImage request, below what every server accepts (256 KiB without BIG-REQUESTS).
    private static let requestBytes = 200_000

    init(connection: OpaquePointer, drawable: xcb_drawable_t, depth: UInt8, colors: ScenePixelLayout) {
        self.connection = connection
        self.drawable = drawable
        self.depth = depth
        self.colors = colors
        hasWidePixels = Self.hasWidePixels(connection, depth)
    }

    /// The copy of `sheet`; nil if the server's pixels don't have 32 bits with the lowest byte first.
    func pixmap(of sheet: SceneSheet, context: xcb_gcontext_t) -> xcb_pixmap_t? {
        if let known = pixmaps[ObjectIdentifier(sheet)] { return known }
        guard hasWidePixels, sheet.width > 0, sheet.height > 0 else { return nil }
        let pixmap = xcb_generate_id(connection)
        xcb_create_pixmap(
            connection, depth, pixmap, drawable, UInt16(clamping: sheet.width), UInt16(clamping: sheet.height))
        let rows = max(1, Self.requestBytes / (sheet.width * 4))
        for top in stride(from: 0, to: sheet.height, by: rows) {
            let count = min(rows, sheet.height - top)
            let pixels = sheet.pixels[top * sheet.width..<(top + count) * sheet.width]
                .map { colors.pixel(SceneColor(packed: $0)) }
            pixels.withUnsafeBytes { bytes in
                _ = xcb_put_image(
                    connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), pixmap, context,
                    UInt16(clamping: sheet.width),
                    UInt16(clamping: count), 0, Int16(clamping: top), 0, depth, UInt32(bytes.count),
                    bytes.bindMemory(to: UInt8.self).baseAddress)
            }
        }
        pixmaps[ObjectIdentifier(sheet)] = pixmap
        return pixmap
    }

    private static func hasWidePixels(_ connection: OpaquePointer, _ depth: UInt8) -> Bool {
        guard let setup = xcb_get_setup(connection),
            setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue)
        else { return false }
        var formats = xcb_setup_pixmap_formats_iterator(setup)
        while formats.rem > 0, let format = formats.data {
            if format.pointee.depth == depth { return format.pointee.bits_per_pixel == 32 }
            xcb_format_next(&formats)
        }
        return false
    }
}
