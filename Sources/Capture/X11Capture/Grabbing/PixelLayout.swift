import CXCB
import ColorConversion

/// The pixel format of a screen or window, and the padding of its rows in an image (X protocol, FORMAT in the
/// connection setup).
struct PixelLayout {
    let format: ScreenToPlanes.PixelFormat
    /// Rows begin at multiples of this many bytes.
    let rowAlignment: Int

    init(
        of screen: UnsafeMutablePointer<xcb_screen_t>, depth: UInt8, visual: xcb_visualid_t,
        setup: UnsafePointer<xcb_setup_t>, display: String
    ) throws(X11CaptureError) {
        var bitsPerPixel: UInt8 = 0
        var padding: UInt8 = 32
        var formats = xcb_setup_pixmap_formats_iterator(setup)
        while formats.rem > 0, let format = formats.data {
            if format.pointee.depth == depth {
                bitsPerPixel = format.pointee.bits_per_pixel
                padding = format.pointee.scanline_pad
            }
            xcb_format_next(&formats)
        }
        func unsupported(_ reason: String) -> X11CaptureError {
            .unsupportedFormat(
                display: display, depth: Int(depth), bitsPerPixel: Int(bitsPerPixel), reason: reason)
        }
        if setup.pointee.image_byte_order != UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue) {
            throw unsupported("most significant byte first")
        }
        let masks = Self.masks(of: visual, on: screen)
        switch (depth, bitsPerPixel, masks.red, masks.green, masks.blue) {
        case (24, 32, 0xFF_0000, 0xFF00, 0xFF), (32, 32, 0xFF_0000, 0xFF00, 0xFF): format = .bgrx
        case (16, 16, 0xF800, 0x07E0, 0x1F): format = .rgb565
        case (24, 32, _, _, _), (32, 32, _, _, _), (16, 16, _, _, _): throw unsupported("another order of colours")
        default: throw unsupported("not a format we read")
        }
        rowAlignment = max(1, Int(padding) / 8)
    }

    /// The number of bytes from one row of an image of `width` columns to the next.
    func stride(width: Int) -> Int {
        (width * format.bytesPerPixel + rowAlignment - 1) / rowAlignment * rowAlignment
    }

    private static func masks(
        of identifier: xcb_visualid_t, on screen: UnsafeMutablePointer<xcb_screen_t>
    ) -> (red: UInt32, green: UInt32, blue: UInt32) {
        var depths = xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            var visuals = xcb_depth_visuals_iterator(depths.data)
            while visuals.rem > 0, let visual = visuals.data {
                if visual.pointee.visual_id == identifier {
                    return (visual.pointee.red_mask, visual.pointee.green_mask, visual.pointee.blue_mask)
                }
                xcb_visualtype_next(&visuals)
            }
            xcb_depth_next(&depths)
        }
        return (0, 0, 0)
    }
}
