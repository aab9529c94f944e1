import CXCB
import Glibc
import MediaTypes

/// Where the pointer is and what it looks like (XFixes), for a screen whose pictures come without it.
final class Pointer {
    /// The area that it covers now; empty where it is on another screen or has no shape.
    private(set) var area = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
    private(set) var shape = PointerShape()
    private var isShapeOutdated = true
    private let connection: X11Connection
    private let notifyEvent: UInt8

    /// nil where the server has no XFixes extension.
    init?(_ connection: X11Connection) throws(X11CaptureError) {
        guard let firstEvent = connection.firstEvent(of: shim_xcb_xfixes_id()) else { return nil }
        // The server answers no other request of the extension before this one.
        let cookie = xcb_xfixes_query_version(connection.handle, 5, 0)
        free(
            try connection.reply(to: "XFixesQueryVersion") {
                xcb_xfixes_query_version_reply(connection.handle, cookie, &$0)
            })
        self.connection = connection
        notifyEvent = firstEvent + UInt8(XCB_XFIXES_CURSOR_NOTIFY)
        xcb_xfixes_select_cursor_input(
            connection.handle, connection.root, UInt32(XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue))
        xcb_flush(connection.handle)
    }

    /// Whether the event was ours.
    func take(event: UInt8) -> Bool {
        if event != notifyEvent { return false }
        isShapeOutdated = true
        return true
    }

    /// Asks where the pointer is, and for its shape where that has changed; gives the areas to draw again: where it was and
    /// where it is, or nothing where it stayed as it was. One round trip.
    func update() throws(X11CaptureError) -> [PixelRectangle] {
        let query = xcb_query_pointer(connection.handle, connection.root)
        var isNewShape = false
        if isShapeOutdated {
            let cookie = xcb_xfixes_get_cursor_image(connection.handle)
            let image = try connection.reply(to: "XFixesGetCursorImage") {
                xcb_xfixes_get_cursor_image_reply(connection.handle, cookie, &$0)
            }
            defer { free(image) }
            let pixels = UnsafeBufferPointer(
                start: xcb_xfixes_get_cursor_image_cursor_image(image),
                count: max(0, Int(xcb_xfixes_get_cursor_image_cursor_image_length(image))))
            let reply = image.pointee
            let new = PointerShape(
                width: Int(reply.width), height: Int(reply.height), hotX: Int(reply.xhot), hotY: Int(reply.yhot),
                pixels: Array(pixels))
            isNewShape = new != shape
            shape = new
            isShapeOutdated = false
        }
        let position = try connection.reply(to: "QueryPointer") {
            xcb_query_pointer_reply(connection.handle, query, &$0)
        }
        defer { free(position) }
        let before = area
        area = PixelRectangle(x: 0, y: 0, width: 0, height: 0)
        if position.pointee.same_screen != 0, !shape.isInvisible {
            area = PixelRectangle(
                x: Int(position.pointee.root_x) - shape.hotX, y: Int(position.pointee.root_y) - shape.hotY,
                width: shape.width, height: shape.height)
        }
        if area == before, !isNewShape { return [] }
        return [before, area].filter { !$0.isEmpty }
    }

    /// Draws the pointer where it meets `pixels`.
    func draw(into pixels: GrabbedPixels, format: ScreenPixelFormat) {
        shape.draw(at: area, into: pixels, format: format)
    }
}
