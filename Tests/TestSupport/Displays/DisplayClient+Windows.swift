public import CXCB
import Glibc
public import MediaTypes

/// What a window manager asks for, and what the screen shows.
extension DisplayClient {
    /// The pixels of the screen, each of four bytes: red, green, blue and one without a meaning. Nil if there are none.
    public func pixels(of size: PictureSize) -> [UInt8]? {
        let cookie = xcb_get_image(
            connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), root, 0, 0, UInt16(size.width),
            UInt16(size.height), ~0)
        guard let reply = xcb_get_image_reply(connection, cookie, nil) else { return nil }
        defer { free(reply) }
        var bytes = Array(
            UnsafeBufferPointer(start: xcb_get_image_data(reply), count: Int(xcb_get_image_data_length(reply))))
        for pixel in stride(from: 0, to: bytes.count - 3, by: 4) { bytes.swapAt(pixel, pixel + 2) }
        return bytes
    }

    /// What the screen shows at a place, 0xRRGGBB on a screen of 24 bits; nil if it can't be read.
    public func color(at place: (x: Int, y: Int)) -> UInt32? {
        let cookie = xcb_get_image(
            connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), root, Int16(place.x), Int16(place.y), 1, 1, ~0)
        guard let reply = xcb_get_image_reply(connection, cookie, nil) else { return nil }
        defer { free(reply) }
        guard xcb_get_image_data_length(reply) >= 4 else { return nil }
        return UnsafeRawPointer(xcb_get_image_data(reply)).loadUnaligned(as: UInt32.self) & 0xFF_FFFF
    }

    /// Asks the program of a window to close it, as a window manager does (ICCCM 4.2.8.1).
    public func close(_ window: xcb_window_t) {
        var event = xcb_client_message_event_t()
        event.response_type = UInt8(XCB_CLIENT_MESSAGE)
        event.format = 32
        event.window = window
        event.type = atom("WM_PROTOCOLS")
        event.data.data32.0 = atom("WM_DELETE_WINDOW")
        withUnsafePointer(to: &event) {
            $0.withMemoryRebound(to: CChar.self, capacity: 32) { _ = xcb_send_event(connection, 0, window, 0, $0) }
        }
        xcb_flush(connection)
    }
}
