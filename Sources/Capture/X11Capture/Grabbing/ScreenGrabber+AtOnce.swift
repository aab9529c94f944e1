import CXCB
import CaptureEngine
import MediaTypes

extension ScreenGrabber {
    /// Pixels are handed out in pieces of about this size.
    private static let pieceBytes = 512 << 10
    /// How much of the segment stays mapped. What was handed out beyond that is released again, so that a large segment
    /// takes no memory of this process.
    private static let mappedBytes = 2 << 20
    /// Rectangles are taken in one request if that takes at most so many times their pixels.
    private static let maxAround = 2

    /// Hands out pixels like `grab`, but pixels that are all of the same time: they are taken in one request, which the
    /// X server answers without interruption, or in several that are sent together and which the server carries out
    /// without another client's between them.
    ///
    /// The segment grows to hold all of them. If there is no memory for that, they come through the connection.
    func grabAtOnce(
        _ rectangles: [PixelRectangle], of place: CapturePlace, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) {
        let union = rectangles.reduce(PixelRectangle.nothing) { $0.union($1) }
        let pixels = rectangles.reduce(0) { $0 + $1.width * $1.height }
        let requested = union.width * union.height <= Self.maxAround * pixels ? [union] : rectangles
        let needed = requested.reduce(0) { $0 + Self.aligned(layout.stride(width: $1.width) * $1.height) }
        guard makeRoom(needed), let segment else {
            return try grabAtOnceThroughConnection(rectangles, place, layout, body)
        }
        kept = nil
        var bands: [Band] = []
        var cutter = BandCutter(requested, layout)
        request(&bands, from: 0, ..<segment.count, &cutter, segment, place, isUndivided: requested.count > 1)
        var failure: X11CaptureError?
        for band in bands {
            // Every reply is waited for, even after an error, because the server writes into the segment until the last
            // one.
            do throws(X11CaptureError) {
                try waitForReply(band)
                if failure != nil { continue }
                if band.available != band.rectangle { segment.pixels(of: band, layout).spread(band.available, layout) }
                try handOut(band, rectangles, segment, layout, body)
            } catch {
                failure = failure ?? error
            }
        }
        segment.release(from: Self.mappedBytes, to: segment.count)
        if let failure { throw failure }
        if bands.count == 1 { kept = (bands[0], place) }
    }

    /// Makes the segment hold a rectangle, if there is memory for it; returns whether it does.
    func makeRoom(_ rectangle: PixelRectangle, _ layout: PixelLayout) -> Bool {
        makeRoom(layout.stride(width: rectangle.width) * rectangle.height)
    }

    /// Requests a rectangle for `keep`, without sending the request yet; nil if the segment has no room for it.
    func request(_ rectangle: PixelRectangle, of place: CapturePlace, _ layout: PixelLayout) -> Band? {
        guard let segment, segment.count >= layout.stride(width: rectangle.width) * rectangle.height else { return nil }
        kept = nil
        var bands: [Band] = []
        var cutter = BandCutter([rectangle], layout)
        request(&bands, from: 0, ..<segment.count, &cutter, segment, place, flushes: false)
        return bands.first
    }

    /// Waits for the pixels of a band, for `handOutKept`.
    func keep(_ band: Band, of place: CapturePlace, _ layout: PixelLayout) throws(X11CaptureError) {
        try waitForReply(band)
        if band.available != band.rectangle { segment?.pixels(of: band, layout).spread(band.available, layout) }
        kept = (band, place)
    }

    /// Hands out parts of what the last `grabAtOnce` or `keep` has taken; returns false if that isn't there any more.
    func handOutKept(
        _ rectangles: [PixelRectangle], of place: CapturePlace, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) -> Bool {
        guard let kept, kept.place == place, let segment else { return false }
        try handOut(kept.band, rectangles, segment, layout, body)
        segment.release(from: Self.mappedBytes, to: segment.count)
        return true
    }

    private func handOut(
        _ band: Band, _ rectangles: [PixelRectangle], _ segment: SharedSegment, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) {
        let whole = segment.pixels(of: band, layout)
        let rows = max(2, Self.pieceBytes / max(1, whole.stride) & ~1)
        for rectangle in rectangles where !rectangle.intersection(band.rectangle).isEmpty {
            for top in stride(from: rectangle.y, to: rectangle.y + rectangle.height, by: rows) {
                let height = min(rows, rectangle.y + rectangle.height - top)
                let piece = whole.part(
                    PixelRectangle(x: rectangle.x, y: top, width: rectangle.width, height: height), layout)
                try body(piece)
                let start = piece.base - segment.base
                segment.release(from: max(Self.mappedBytes, start), to: start + height * whole.stride)
            }
        }
    }
}
