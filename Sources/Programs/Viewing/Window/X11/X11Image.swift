import CXCB
import ColorConversion
import Glibc
import MediaTypes

/// The pixels that a window shows, in memory that the X server shares (MIT-SHM 1.2) or, where that isn't possible, in
/// memory that is sent to it. For one thread.
final class X11Image {
    let size: PictureSize
    private let connection: OpaquePointer
    private let depth: UInt8
    private let base: UnsafeMutableRawPointer
    /// The server's name for the shared memory; nil if there is none.
    private let segment: xcb_shm_seg_t?
    /// The request whose reply means that the server has drawn the image; nil if it has.
    private var request: UInt32?

    private var stride: Int { size.width * 4 }
    private var byteCount: Int { stride * size.height }

    /// Creates an image for drawables of `depth`, whose pixels have 32 bits.
    init(_ size: PictureSize, on connection: OpaquePointer, depth: UInt8) {
        self.size = size
        self.connection = connection
        self.depth = depth
        let count = size.width * 4 * size.height
        if let shared = Self.shared(count, on: connection) {
            base = shared.base
            segment = shared.segment
        } else {
            base = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 64)
            segment = nil
        }
    }

    deinit {
        if let request { xcb_discard_reply(connection, request) }
        if let segment {
            xcb_shm_detach(connection, segment)
            munmap(base, byteCount)
        } else {
            base.deallocate()
        }
    }

    /// Whether the screen's root visual has 32 bits a pixel: blue in the first byte, then green and red.
    static func isPossible(on screen: UnsafeMutablePointer<xcb_screen_t>, _ setup: UnsafePointer<xcb_setup_t>) -> Bool {
        guard setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue) else { return false }
        var formats = xcb_setup_pixmap_formats_iterator(setup)
        var hasFormat = false
        while formats.rem > 0, let format = formats.data {
            if format.pointee.depth == screen.pointee.root_depth { hasFormat = format.pointee.bits_per_pixel == 32 }
            xcb_format_next(&formats)
        }
        guard hasFormat else { return false }
        var depths = xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            var visuals = xcb_depth_visuals_iterator(depths.data)
            while visuals.rem > 0, let visual = visuals.data {
                if visual.pointee.visual_id == screen.pointee.root_visual {
                    return visual.pointee.red_mask == 0xFF_0000 && visual.pointee.green_mask == 0xFF00
                        && visual.pointee.blue_mask == 0xFF
                }
                xcb_visualtype_next(&visuals)
            }
            xcb_depth_next(&depths)
        }
        return false
    }

    /// Whether the server has drawn the image, so that another one can be drawn. Doesn't wait for it.
    func isDrawn() -> Bool {
        guard let request else { return true }
        var reply: UnsafeMutableRawPointer?
        var error: UnsafeMutablePointer<xcb_generic_error_t>?
        guard xcb_poll_for_reply(connection, request, &reply, &error) != 0 else { return false }
        free(reply)
        free(error)
        self.request = nil
        return true
    }

    /// Draws `picture`, which has this image's size, with its top left corner at a place of the window; parts outside
    /// the window are cut off. Only if the image ``isDrawn()``.
    func draw(_ picture: I420Picture, on window: xcb_window_t, _ context: xcb_gcontext_t, x: Int, y: Int) {
        guard picture.size == size, I420ToBGRX.write(picture, to: base, stride: stride) else { return }
        let format = UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue)
        let (width, height) = (UInt16(clamping: size.width), UInt16(clamping: size.height))
        if let segment {
            xcb_shm_put_image(
                connection, window, context, width, height, 0, 0, width, height, Int16(clamping: x),
                Int16(clamping: y), depth, format, 0, segment, 0)
        } else {
            let room = Int(xcb_get_maximum_request_length(connection)) * 4 - 64
            let rows = max(1, room / stride)
            for row in Swift.stride(from: 0, to: size.height, by: rows) {
                let count = min(rows, size.height - row)
                let pixels = base + row * stride
                xcb_put_image(
                    connection, format, window, context, width, UInt16(clamping: count), Int16(clamping: x),
                    Int16(clamping: y + row), 0, depth, UInt32(count * stride),
                    pixels.assumingMemoryBound(to: UInt8.self))
            }
        }
        // The reply comes after the server has done everything before it.
        request = xcb_get_input_focus(connection).sequence
        xcb_flush(connection)
    }

    /// Memory of an anonymous file that the server maps too; nil if that isn't possible.
    private static func shared(
        _ count: Int, on connection: OpaquePointer
    ) -> (base: UnsafeMutableRawPointer, segment: xcb_shm_seg_t)? {
        guard isLocal(connection), let data = xcb_get_extension_data(connection, shim_xcb_shm_id()),
            data.pointee.present != 0,
            let version = xcb_shm_query_version_reply(connection, xcb_shm_query_version(connection), nil)
        else { return nil }
        let isNewEnough = (version.pointee.major_version, version.pointee.minor_version) >= (1, 2)
        free(version)
        guard isNewEnough else { return nil }
        guard let (base, file) = mappedFile(of: count) else { return nil }
        let segment = xcb_generate_id(connection)
        // xcb closes the descriptor that it sends.
        guard let error = xcb_request_check(connection, xcb_shm_attach_fd_checked(connection, segment, file, 1)) else {
            return (base, segment)
        }
        free(error)
        munmap(base, count)
        return nil
    }

    /// Whether the server is reached through a Unix socket: only then can a descriptor be sent to it.
    private static func isLocal(_ connection: OpaquePointer) -> Bool {
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let descriptor = xcb_get_file_descriptor(connection)
        let result = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return result == 0 && name.ss_family == sa_family_t(AF_UNIX)
    }
}
