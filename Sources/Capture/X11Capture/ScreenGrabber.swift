import CXCB
import CaptureEngine
import ColorConversion
import Glibc
import MediaTypes

/// A method of taking pixels from the X server.
public enum GrabMethod: String, CaseIterable, Sendable {
    /// Shared memory passed as a file descriptor (MIT-SHM 1.2).
    case memoryFile = "memory-file"
    /// Shared memory in a System V segment (older servers).
    case systemV = "system-v"
    /// Replies on the connection (servers on other machines).
    case connection = "connection"
}

/// Takes rectangles of a drawable, in bands that fit into one small segment.
///
/// The segment has two halves: while one is read, the server fills the other. If a program paints between two bands,
/// they don't belong together; `grabAtOnce` takes all of them in one go, at the cost of time and memory.
final class ScreenGrabber {
    typealias Body = (GrabbedPixels) throws(X11CaptureError) -> Void

    let method: GrabMethod
    let connection: X11Connection
    private(set) var segment: SharedSegment?
    private let bandBytes: Int
    private let mostBytes: Int
    // Kept so that a picture needs no allocation.
    private var halves: (first: [Band], second: [Band]) = ([], [])

    /// A band that is on its way into a half of the segment.
    struct Band {
        var rectangle: PixelRectangle
        /// The part of it that the drawable has.
        var available: PixelRectangle
        var offset: Int
        var cookie: xcb_shm_get_image_cookie_t
    }

    /// The segment's size in bytes. A whole grab at 1080p and at 4K, hashed as it comes in, takes 1.00 and 0.98 times
    /// as long as with a segment for the whole picture. With 1 MiB it takes 1.04 and 1.01, with 512 KiB 1.18 and 1.14,
    /// and with 4 MiB 1.01 and 0.95.
    static let segmentBytes = 4 << 20
    // Pictures come in bands through the connection as well, or replies of megabytes would pile up in memory.
    private static let replyBytes = 1 << 20

    /// Takes pixels by the first of `methods` that works, into a segment of `segmentBytes` that may grow to
    /// `mostBytes`.
    init(
        _ connection: X11Connection, methods: [GrabMethod], segmentBytes: Int = ScreenGrabber.segmentBytes,
        mostBytes: Int = .max
    ) throws(X11CaptureError) {
        bandBytes = segmentBytes
        self.mostBytes = mostBytes
        var failure: X11CaptureError?
        for method in methods {
            var segment: SharedSegment?
            do throws(X11CaptureError) {
                segment = try Self.segment(connection, method, segmentBytes)
            } catch {
                // If memory or descriptors are short, another method may need less.
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

    private static func segment(
        _ connection: X11Connection, _ method: GrabMethod, _ count: Int
    ) throws(X11CaptureError) -> SharedSegment? {
        switch method {
        case .memoryFile: try SharedSegment.memoryFile(connection, count: count)
        case .systemV: try SharedSegment.systemV(connection, count: count)
        case .connection: nil
        }
    }

    /// Makes the segment hold so many bytes, if there is memory for them; returns whether it does.
    func makeRoom(_ needed: Int) -> Bool {
        guard let old = segment else { return false }
        if needed <= old.count { return true }
        guard needed <= mostBytes, let larger = try? Self.segment(connection, method, needed) else { return false }
        segment = larger
        return true
    }

    /// Hands out the pixels of each rectangle of `place`, in one or more pieces of whole rows that begin at even rows
    /// from the rectangle's top. Parts outside the drawable are black.
    ///
    /// The rectangles that fit into the segment side by side cost one round trip.
    func grab(
        _ rectangles: [PixelRectangle], of place: CapturePlace, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) {
        guard let segment else {
            for rectangle in rectangles {
                try grabThroughConnection(rectangle, place, layout, replyBytes: Self.replyBytes, body)
            }
            return
        }
        // What the segment has grown by is for pictures taken at once.
        let count = min(segment.count, bandBytes)
        let half = count / 2
        var cutter = BandCutter(rectangles, layout)
        request(&halves.first, from: 0, ..<half, &cutter, segment, place)
        request(&halves.second, from: half, ..<count, &cutter, segment, place)
        var failure: X11CaptureError?
        while true {
            if halves.first.isEmpty { break }
            collect(halves.first, segment, layout, &failure, body)
            if failure != nil { cutter.stop() }
            request(&halves.first, from: 0, ..<half, &cutter, segment, place)
            if halves.second.isEmpty { break }
            collect(halves.second, segment, layout, &failure, body)
            if failure != nil { cutter.stop() }
            request(&halves.second, from: half, ..<count, &cutter, segment, place)
        }
        // One half may have been requested after the other had nothing left.
        collect(halves.first, segment, layout, &failure, body)
        halves.first.removeAll(keepingCapacity: true)
        if let failure { throw failure }
    }

    /// Requests as many of the next bands as fit into a part of the segment.
    func request(
        _ bands: inout [Band], from start: Int, _ end: PartialRangeUpTo<Int>, _ cutter: inout BandCutter,
        _ segment: SharedSegment, _ place: CapturePlace
    ) {
        bands.removeAll(keepingCapacity: true)
        var offset = start
        while let band = cutter.next(room: end.upperBound - offset, isEmpty: offset == start) {
            let available = band.rectangle.intersection(place.available)
            var cookie = xcb_shm_get_image_cookie_t()
            if !available.isEmpty {
                cookie = xcb_shm_get_image(
                    connection.handle, place.drawable, Int16(clamping: available.x + place.area.x),
                    Int16(clamping: available.y + place.area.y), UInt16(clamping: available.width),
                    UInt16(clamping: available.height), ~0, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue),
                    segment.identifier, UInt32(clamping: offset))
            }
            bands.append(Band(rectangle: band.rectangle, available: available, offset: offset, cookie: cookie))
            offset += Self.aligned(band.bytes)
        }
        // Without a flush, the requests would wait for the next one.
        if !bands.isEmpty { xcb_flush(connection.handle) }
    }

    static func aligned(_ bytes: Int) -> Int { (bytes + 63) & ~63 }

    private func collect(
        _ bands: [Band], _ segment: SharedSegment, _ layout: PixelLayout, _ failure: inout X11CaptureError?,
        _ body: Body
    ) {
        for band in bands {
            // Every reply is waited for, even after an error, because the server writes into the segment until the last
            // one.
            do throws(X11CaptureError) {
                try waitForReply(band)
                if failure != nil { continue }
                let pixels = GrabbedPixels(
                    rectangle: band.rectangle, base: segment.base + band.offset,
                    stride: layout.stride(width: band.rectangle.width))
                if band.available != band.rectangle { pixels.spread(band.available, layout) }
                try body(pixels)
            } catch {
                failure = failure ?? error
            }
        }
    }

    func waitForReply(_ band: Band) throws(X11CaptureError) {
        if band.available.isEmpty { return }
        let reply = try connection.reply(to: "ShmGetImage") {
            xcb_shm_get_image_reply(connection.handle, band.cookie, &$0)
        }
        free(reply)
    }

    func grabThroughConnection(
        _ rectangle: PixelRectangle, _ place: CapturePlace, _ layout: PixelLayout, replyBytes: Int, _ body: Body
    ) throws(X11CaptureError) {
        var cutter = BandCutter([rectangle], layout)
        while let band = cutter.next(room: replyBytes, isEmpty: true) {
            let stride = layout.stride(width: band.rectangle.width)
            let available = band.rectangle.intersection(place.available)
            var image: UnsafeMutablePointer<xcb_get_image_reply_t>?
            defer { free(image) }
            if !available.isEmpty {
                let cookie = xcb_get_image(
                    connection.handle, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), place.drawable,
                    Int16(clamping: available.x + place.area.x), Int16(clamping: available.y + place.area.y),
                    UInt16(clamping: available.width), UInt16(clamping: available.height), ~0)
                let reply = try connection.reply(to: "GetImage") {
                    xcb_get_image_reply(connection.handle, cookie, &$0)
                }
                image = reply
                let needed = layout.stride(width: available.width) * available.height
                if Int(xcb_get_image_data_length(reply)) < needed {
                    throw .requestRefused(request: "GetImage (short reply)", code: 0)
                }
                if available == band.rectangle, let data = xcb_get_image_data(reply) {
                    try body(GrabbedPixels(rectangle: band.rectangle, base: data, stride: stride))
                    continue
                }
            }
            // Rare: the area sticks out of the screen.
            let whole = UnsafeMutableRawPointer.allocate(byteCount: max(1, band.bytes), alignment: 16)
            defer { whole.deallocate() }
            if let image, let data = xcb_get_image_data(image) {
                memcpy(whole, data, layout.stride(width: available.width) * available.height)
            }
            let pixels = GrabbedPixels(rectangle: band.rectangle, base: whole, stride: stride)
            pixels.spread(available, layout)
            try body(pixels)
        }
    }
}
