import CXCB
import CaptureEngine
import Glibc
import MediaTypes

extension ScreenGrabber {
    private struct Image {
        var rectangle: PixelRectangle
        /// The part of it that the drawable has.
        var available: PixelRectangle
        var cookie = xcb_get_image_cookie_t()
    }

    /// Hands out pixels like `grab`, from one reply of at most `replyBytes` after the other.
    func grabThroughConnection(
        _ rectangles: [PixelRectangle], _ place: CapturePlace, _ layout: PixelLayout, replyBytes: Int, _ body: Body
    ) throws(X11CaptureError) {
        var cutter = BandCutter(rectangles, layout)
        while let band = cutter.next(room: replyBytes, isEmpty: true) {
            try receiveReply(request(band.rectangle, place), layout, body)
        }
    }

    /// Hands out pixels like `grabAtOnce`. All replies pile up in memory.
    func grabAtOnceThroughConnection(
        _ rectangles: [PixelRectangle], _ place: CapturePlace, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) {
        xcb_grab_server(connection.handle)
        let images = rectangles.map { request($0, place) }
        xcb_ungrab_server(connection.handle)
        var failure: X11CaptureError?
        for image in images {
            do throws(X11CaptureError) {
                if failure == nil {
                    try receiveReply(image, layout, body)
                } else if !image.available.isEmpty {
                    xcb_discard_reply(connection.handle, image.cookie.sequence)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func request(_ rectangle: PixelRectangle, _ place: CapturePlace) -> Image {
        var image = Image(rectangle: rectangle, available: rectangle.intersection(place.available))
        if image.available.isEmpty { return image }
        image.cookie = xcb_get_image(
            connection.handle, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), place.drawable,
            Int16(clamping: image.available.x + place.area.x), Int16(clamping: image.available.y + place.area.y),
            UInt16(clamping: image.available.width), UInt16(clamping: image.available.height), ~0)
        lastRequest = image.cookie.sequence
        return image
    }

    private func receiveReply(_ image: Image, _ layout: PixelLayout, _ body: Body) throws(X11CaptureError) {
        let (rectangle, available) = (image.rectangle, image.available)
        let stride = layout.stride(width: rectangle.width)
        var reply: UnsafeMutablePointer<xcb_get_image_reply_t>?
        defer { free(reply) }
        if !available.isEmpty {
            let received = try connection.reply(to: "GetImage") {
                xcb_get_image_reply(connection.handle, image.cookie, &$0)
            }
            reply = received
            let needed = layout.stride(width: available.width) * available.height
            if Int(xcb_get_image_data_length(received)) < needed {
                throw .requestRefused(request: "GetImage (short reply)", code: 0)
            }
            if available == rectangle, let data = xcb_get_image_data(received) {
                return try body(GrabbedPixels(rectangle: rectangle, base: data, stride: stride))
            }
        }
        // Rare: the area sticks out of the screen.
        let whole = UnsafeMutableRawPointer.allocate(byteCount: max(1, stride * rectangle.height), alignment: 16)
        defer { whole.deallocate() }
        if let reply, let data = xcb_get_image_data(reply) {
            memcpy(whole, data, layout.stride(width: available.width) * available.height)
        }
        let pixels = GrabbedPixels(rectangle: rectangle, base: whole, stride: stride)
        pixels.spread(available, layout)
        try body(pixels)
    }
}
