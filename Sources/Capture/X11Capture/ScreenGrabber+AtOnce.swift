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
    private static let mostAround = 2

    /// Does the same as `grab`, with pixels that are all of the same time: the X server answers a request without
    /// interruption, and requests that are sent together are answered together.
    ///
    /// The segment grows to hold all of them. If there is no memory for that, they are taken by `grab`.
    func grabAtOnce(
        _ rectangles: [PixelRectangle], of place: CapturePlace, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) {
        if method == .connection {
            for rectangle in rectangles {
                try grabThroughConnection(rectangle, place, layout, replyBytes: .max, body)
            }
            return
        }
        let union = rectangles.reduce(PixelRectangle(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }
        let pixels = rectangles.reduce(0) { $0 + $1.width * $1.height }
        let requested = union.width * union.height <= Self.mostAround * pixels ? [union] : rectangles
        let needed = requested.reduce(0) { $0 + Self.aligned(layout.stride(width: $1.width) * $1.height) }
        guard makeRoom(needed), let segment else { return try grab(rectangles, of: place, layout, body) }
        var bands: [Band] = []
        var cutter = BandCutter(requested, layout)
        request(&bands, from: 0, ..<segment.count, &cutter, segment, place)
        var failure: X11CaptureError?
        for band in bands {
            // Every reply is waited for, even after an error, because the server writes into the segment until the last
            // one.
            do throws(X11CaptureError) {
                try waitForReply(band)
                if failure == nil { try handOut(band, rectangles, segment, layout, body) }
            } catch {
                failure = failure ?? error
            }
        }
        segment.release(from: Self.mappedBytes, to: segment.count)
        if let failure { throw failure }
    }

    private func handOut(
        _ band: Band, _ rectangles: [PixelRectangle], _ segment: SharedSegment, _ layout: PixelLayout, _ body: Body
    ) throws(X11CaptureError) {
        let whole = GrabbedPixels(
            rectangle: band.rectangle, base: segment.base + band.offset,
            stride: layout.stride(width: band.rectangle.width))
        if band.available != band.rectangle { whole.spread(band.available, layout) }
        var starts = rectangles.map { $0.intersection(band.rectangle).y }
        let rows = max(2, Self.pieceBytes / max(1, whole.stride) & ~1)
        let bottom = band.rectangle.y + band.rectangle.height
        for end in stride(from: band.rectangle.y + rows, to: bottom + rows, by: rows) {
            for (index, rectangle) in rectangles.enumerated() {
                let part = rectangle.intersection(band.rectangle)
                var height = min(part.y + part.height, end) - starts[index]
                if end < part.y + part.height { height &= ~1 }
                if part.isEmpty || height <= 0 { continue }
                let piece = PixelRectangle(x: part.x, y: starts[index], width: part.width, height: height)
                try body(whole.part(piece, layout))
                starts[index] += height
            }
            // All but the last row has been handed out.
            segment.release(
                from: Self.mappedBytes, to: band.offset + (min(end, bottom) - 1 - band.rectangle.y) * whole.stride)
        }
    }
}
