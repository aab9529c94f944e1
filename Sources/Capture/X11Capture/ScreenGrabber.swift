import CXCB
import Glibc
public import MediaTypes

/// A way to take pixels from the X server.
public enum GrabMethod: String, CaseIterable, Sendable {
    /// Shared memory by descriptor (MIT-SHM 1.2).
    case memoryFile = "memory-file"
    /// Shared memory by System V segment (older servers).
    case systemV = "system-v"
    /// Through the connection (servers elsewhere).
    case connection = "connection"
}

/// Pixels of a rectangle of the screen, row by row; valid during the call that hands them out, and may be drawn into.
public struct GrabbedPixels {
    /// What it shows.
    public let rectangle: PixelRectangle
    /// The top left pixel.
    public let base: UnsafeMutableRawPointer
    /// Bytes from one row to the next.
    public let stride: Int
}

/// Takes rectangles of the root window.
final class ScreenGrabber {
    let method: GrabMethod
    private let connection: X11Connection
    private let segment: SharedSegment?
    // Kept so that a picture needs no allocation.
    private var pending: [(rectangle: PixelRectangle, offset: Int, cookie: xcb_shm_get_image_cookie_t)] = []
    // Through the connection a picture comes in bands, or Xlib-sized replies of megabytes would pile up in memory.
    private static let bandBytes = 1 << 20

    init(_ connection: X11Connection, size: PictureSize, methods: [GrabMethod]) throws(X11CaptureError) {
        let count = connection.pixels.stride(width: size.width) * size.height
        var failure: X11CaptureError?
        for method in methods {
            var segment: SharedSegment?
            do throws(X11CaptureError) {
                switch method {
                case .memoryFile: segment = try SharedSegment.memoryFile(connection, count: count)
                case .systemV: segment = try SharedSegment.systemV(connection, count: count)
                case .connection: break
                }
            } catch {
                // Where memory or descriptors are short there may be another way that needs less.
                guard case .system = error else { throw error }
                failure = failure ?? error
                continue
            }
            if segment != nil || method == .connection {
                self.method = method
                self.segment = segment
                self.connection = connection
                return
            }
            try connection.check()
        }
        throw failure ?? .noGrabMethod(display: connection.display, tried: methods)
    }

    /// Hands out the pixels of each rectangle, in one or several pieces of whole rows.
    ///
    /// All rectangles that fit into the segment side by side cost one round trip.
    func grab(_ rectangles: [PixelRectangle], _ body: (GrabbedPixels) -> Void) throws(X11CaptureError) {
        guard let segment else {
            for rectangle in rectangles { try grabThroughConnection(rectangle, body) }
            return
        }
        var next = 0
        while next < rectangles.count {
            pending.removeAll(keepingCapacity: true)
            var offset = 0
            while next < rectangles.count {
                let rectangle = rectangles[next]
                let count = connection.pixels.stride(width: rectangle.width) * rectangle.height
                // Larger than the whole screen: can't be, but would never end.
                if count > segment.count { throw .requestRefused(request: "ShmGetImage of \(rectangle)", code: 0) }
                if offset + count > segment.count { break }
                let cookie = xcb_shm_get_image(
                    connection.handle, connection.root, Int16(clamping: rectangle.x), Int16(clamping: rectangle.y),
                    UInt16(clamping: rectangle.width), UInt16(clamping: rectangle.height), ~0,
                    UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), segment.identifier, UInt32(clamping: offset))
                pending.append((rectangle, offset, cookie))
                offset += (count + 63) & ~63
                next += 1
            }
            try collect(segment, body)
        }
    }

    private func collect(_ segment: SharedSegment, _ body: (GrabbedPixels) -> Void) throws(X11CaptureError) {
        var failure: X11CaptureError?
        for (rectangle, offset, cookie) in pending {
            // Every reply is waited for, also behind an error: the server writes into the segment until the last one.
            do throws(X11CaptureError) {
                let reply = try connection.reply(to: "ShmGetImage") {
                    xcb_shm_get_image_reply(connection.handle, cookie, &$0)
                }
                free(reply)
            } catch {
                failure = failure ?? error
                continue
            }
            body(
                GrabbedPixels(
                    rectangle: rectangle, base: segment.base + offset,
                    stride: connection.pixels.stride(width: rectangle.width)))
        }
        if let failure { throw failure }
    }

    private func grabThroughConnection(
        _ rectangle: PixelRectangle, _ body: (GrabbedPixels) -> Void
    ) throws(X11CaptureError) {
        let stride = connection.pixels.stride(width: rectangle.width)
        // Even, so that a band begins where a chroma row begins.
        let rows = max(2, Self.bandBytes / max(1, stride) & ~1)
        var top = rectangle.y
        while top < rectangle.y + rectangle.height {
            let band = PixelRectangle(
                x: rectangle.x, y: top, width: rectangle.width, height: min(rows, rectangle.y + rectangle.height - top))
            let cookie = xcb_get_image(
                connection.handle, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), connection.root,
                Int16(clamping: band.x), Int16(clamping: band.y), UInt16(clamping: band.width),
                UInt16(clamping: band.height), ~0)
            let image = try connection.reply(to: "GetImage") { xcb_get_image_reply(connection.handle, cookie, &$0) }
            defer { free(image) }
            guard let data = xcb_get_image_data(image), Int(xcb_get_image_data_length(image)) >= stride * band.height
            else { throw .requestRefused(request: "GetImage (short reply)", code: 0) }
            body(GrabbedPixels(rectangle: band, base: UnsafeMutableRawPointer(data), stride: stride))
            top += band.height
        }
    }
}
