import CXCB
import CaptureEngine
import ColorConversion
import Glibc
import MediaTypes

/// A method of taking pixels from the X server.
public enum GrabMethod: String, CaseIterable, Sendable {
    /// Shared memory passed as a file descriptor (MIT-SHM 1.2).
    case shmFD = "memory-file"
    /// Shared memory in a System V segment (MIT-SHM before 1.2, which Debian's tightvncserver has).
    case shmSegment = "system-v"
    /// Replies on the connection (servers on other machines).
    case getImage = "connection"
}

/// Takes rectangles of a drawable, in bands that fit into one small segment.
///
/// The segment has two halves: while one is read, the server fills the other. If a program paints between two bands,
/// they don't belong together; `grabAtOnce` takes all of them at one time, into a segment that holds them all.
final class ScreenGrabber {
    typealias Body = (GrabbedPixels) throws(X11CaptureError) -> Void

    let method: GrabMethod
    let connection: X11Connection
    private(set) var segment: SharedSegment?
    /// The last request for pixels.
    var lastRequest: UInt32 = 0
    /// What `grabAtOnce` or `keep` has taken in one request, and where, as long as it is in the segment.
    var kept: (band: Band, place: CapturePlace)?
    private let bandBytes: Int
    private let maxBytes: Int
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
    /// `maxBytes`.
    init(
        _ connection: X11Connection, methods: [GrabMethod], segmentBytes: Int = ScreenGrabber.segmentBytes,
        maxBytes: Int = .max
    ) throws(X11CaptureError) {
        bandBytes = segmentBytes
        self.maxBytes = maxBytes
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
            if segment != nil || method == .getImage {
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
        case .shmFD: try SharedSegment.shmFD(connection, count: count)
        case .shmSegment: try SharedSegment.shmSegment(connection, count: count)
        case .getImage: nil
        }
    }

    /// Makes the segment hold so many bytes, if there is memory for them; returns whether it does.
    func makeRoom(_ needed: Int) -> Bool {
        guard let old = segment else { return false }
        if needed <= old.count { return true }
        guard needed <= maxBytes, let larger = try? Self.segment(connection, method, needed) else { return false }
        segment = larger
        kept = nil
        return true
    }

    /// Gives back the memory that `makeRoom` has added.
    func shrink() {
        guard let segment, segment.count > bandBytes else { return }
        if let small = try? Self.segment(connection, method, bandBytes) { self.segment = small }
        kept = nil
    }

    /// Hands out the pixels of each rectangle of `place`, one rectangle after the other and each from top to bottom, in
    /// pieces of whole rows that begin at even rows from the rectangle's top. Parts outside the drawable are black.
    ///
    /// The rectangles that fit into the segment side by side cost one round trip.
    ///
    /// Requests that `followUp` sends are carried out after those for the pixels, even if it is called before their
    /// replies have come. It is called once, and not if a reply through the connection is an error.
    func grab(
        _ rectangles: [PixelRectangle], of place: CapturePlace, _ layout: PixelLayout,
        followUp: () -> Void = {}, _ body: Body
    ) throws(X11CaptureError) {
        guard let segment else {
            try grabThroughConnection(rectangles, place, layout, replyBytes: Self.replyBytes, body)
            return followUp()
        }
        kept = nil
        // What the segment has grown by is for pictures taken at once.
        let count = min(segment.count, bandBytes)
        let half = count / 2
        var cutter = BandCutter(rectangles, layout)
        request(&halves.first, from: 0, ..<half, &cutter, segment, place)
        request(&halves.second, from: half, ..<count, &cutter, segment, place)
        let isWhole = cutter.isAtEnd
        if isWhole { followUp() }
        var failure: X11CaptureError?
        while true {
            if halves.first.isEmpty { break }
            receiveReply(halves.first, segment, layout, &failure, body)
            if failure != nil { cutter.stop() }
            request(&halves.first, from: 0, ..<half, &cutter, segment, place)
            if halves.second.isEmpty { break }
            receiveReply(halves.second, segment, layout, &failure, body)
            if failure != nil { cutter.stop() }
            request(&halves.second, from: half, ..<count, &cutter, segment, place)
        }
        // One half may have been requested after the other had nothing left.
        receiveReply(halves.first, segment, layout, &failure, body)
        halves.first.removeAll(keepingCapacity: true)
        if !isWhole { followUp() }
        if let failure { throw failure }
    }

    /// Requests as many of the next bands as fit into a part of the segment. `isUndivided`: no other client's request
    /// is carried out between them.
    func request(
        _ bands: inout [Band], from start: Int, _ end: PartialRangeUpTo<Int>, _ cutter: inout BandCutter,
        _ segment: SharedSegment, _ place: CapturePlace, isUndivided: Bool = false, flushes: Bool = true
    ) {
        bands.removeAll(keepingCapacity: true)
        if isUndivided { xcb_grab_server(connection.handle) }
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
                lastRequest = cookie.sequence
            }
            bands.append(Band(rectangle: band.rectangle, available: available, offset: offset, cookie: cookie))
            offset += Self.aligned(band.bytes)
        }
        if isUndivided { xcb_ungrab_server(connection.handle) }
        // Without a flush, the requests would wait for the next one.
        if !bands.isEmpty, flushes { xcb_flush(connection.handle) }
    }

    static func aligned(_ bytes: Int) -> Int { (bytes + 63) & ~63 }

    private func receiveReply(
        _ bands: [Band], _ segment: SharedSegment, _ layout: PixelLayout, _ failure: inout X11CaptureError?,
        _ body: Body
    ) {
        for band in bands {
            // Every reply is waited for, even after an error, because the server writes into the segment until the last
            // one.
            do throws(X11CaptureError) {
                try waitForReply(band)
                if failure != nil { continue }
                let pixels = segment.pixels(of: band, layout)
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
}

extension SharedSegment {
    /// The pixels of a band in this segment.
    func pixels(of band: ScreenGrabber.Band, _ layout: PixelLayout) -> GrabbedPixels {
        GrabbedPixels(
            rectangle: band.rectangle, base: base + band.offset, stride: layout.stride(width: band.rectangle.width))
    }
}
