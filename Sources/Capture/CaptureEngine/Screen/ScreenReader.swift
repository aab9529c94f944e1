import Clocks
import ColorConversion
import Glibc
import MediaTypes

/// Brings changed parts of the screen into the canvas: grabs them, scales them if pictures show the screen in another
/// size, and converts them.
final class ScreenReader {
    private let screen: any ScreenSource
    private let canvas: PictureCanvas
    /// The part of the picture that shows the screen.
    private let content: PixelRectangle
    private let format: ScreenToPlanes.PixelFormat
    private let scaling: ScreenScaling?
    private var stripes = ScaledStripes()

    init(_ screen: any ScreenSource, into canvas: PictureCanvas, at content: PixelRectangle) {
        self.screen = screen
        self.canvas = canvas
        self.content = content
        format = screen.pixelFormat
        scaling = content.size == screen.size ? nil : ScreenScaling(from: screen.size, to: content.size)
    }

    /// The parts of the picture in which `area` of the screen is seen.
    func affected(by area: DamagedArea) -> DamagedArea {
        if scaling == nil, content.size == canvas.size { return area }
        return DamagedArea(
            area.rectangles.map { (scaling?.affected(by: $0) ?? $0).moved(x: content.x, y: content.y) }, in: canvas.size
        )
    }

    /// All that reading `area` of the picture writes. Where pictures are scaled, parts that need the same pixels of the
    /// screen are written as one rectangle, with what is between them.
    func written(by area: DamagedArea) -> DamagedArea {
        guard let scaling else { return area }
        var area = area
        while true {
            let parts = area.rectangles.map { $0.moved(x: -content.x, y: -content.y) }
            let needed = needed(for: parts, scaling)
            if needed.rectangles.count >= parts.count { return area }
            area = DamagedArea(
                targets(of: needed, for: parts, scaling).map { $0.moved(x: content.x, y: content.y) }, in: canvas.size)
        }
    }

    /// The part of the screen that is needed for `parts` of the picture.
    private func needed(for parts: [PixelRectangle], _ scaling: ScreenScaling) -> DamagedArea {
        DamagedArea(parts.map(scaling.needed(for:)), in: screen.size)
    }

    /// What each rectangle of the screen is needed for.
    private func targets(
        of needed: DamagedArea, for parts: [PixelRectangle], _ scaling: ScreenScaling
    ) -> [PixelRectangle] {
        needed.rectangles.map { rectangle in
            parts.reduce(PixelRectangle.nothing) { rectangle.contains(scaling.needed(for: $1)) ? $0.union($1) : $0 }
        }
    }

    /// Brings `area` of the picture up to date; returns false if the screen refused to hand out pixels. `converting`
    /// is increased by the time spent on conversion.
    func read(_ area: DamagedArea, converting: inout Interval) throws(CaptureError) -> Bool {
        let parts = area.rectangles.map { $0.moved(x: -content.x, y: -content.y) }
        if let scaling { return try readScaled(parts, scaling, &converting) }
        let destination = canvas.destination(content)
        let seen = content.size == canvas.size ? area : DamagedArea(parts, in: screen.size)
        let isComplete = try screen.grab(seen) { pixels in
            let begin = MonotonicTime.now()
            ScreenToPlanes.convert(
                pixels.base, stride: pixels.stride, format: format, rectangle: pixels.rectangle, into: destination)
            converting = converting + (MonotonicTime.now() - begin)
        }
        for part in area.rectangles { canvas.repeatEdges(part) }
        return isComplete
    }

    private func readScaled(
        _ parts: [PixelRectangle], _ scaling: ScreenScaling, _ converting: inout Interval
    ) throws(CaptureError) -> Bool {
        // All of it is grabbed in one go, or the picture could be torn.
        let area = needed(for: parts, scaling)
        let targets = targets(of: area, for: parts, scaling)
        let destination = canvas.destination(content)
        let isComplete = try screen.grab(area) { pixels in
            let begin = MonotonicTime.now()
            if let index = area.rectangles.firstIndex(where: { $0.contains(pixels.rectangle) }) {
                if pixels.rectangle.y == area.rectangles[index].y { stripes.begin(targets[index], scaling) }
                stripes.add(pixels, format, scaling, into: destination)
            }
            converting = converting + (MonotonicTime.now() - begin)
        }
        for part in targets { canvas.repeatEdges(part.moved(x: content.x, y: content.y)) }
        return isComplete
    }
}

/// Scales and converts rectangles of a screen as their rows arrive, in stripes that fit into the processor's caches.
private struct ScaledStripes {
    /// The number of bytes of the screen to scale at once, unless a row of macroblocks has more.
    private static let stripeBytes = 1 << 20

    // What is left to do of the picture.
    private var left = PixelRectangle.nothing
    // Rows of the screen for the next stripe, from `top` on, and memory for the stripe after it; four bytes a pixel.
    private var stripe: [UInt8] = []
    private var following: [UInt8] = []
    private var top = 0
    private var rows = 0
    private var scaled: [UInt8] = []

    /// Begins a rectangle of the picture.
    mutating func begin(_ target: PixelRectangle, _ scaling: ScreenScaling) {
        left = target
        let source = scaling.needed(for: next(scaling))
        (top, rows) = (source.y, 0)
        Self.grow(&stripe, toHold: source)
    }

    /// Adds the next rows of the screen, which may be wider than what is needed, and writes the stripes of the picture
    /// that they complete.
    mutating func add(
        _ pixels: GrabbedPixels, _ format: ScreenToPlanes.PixelFormat, _ scaling: ScreenScaling,
        into destination: ScreenToPlanes.Destination
    ) {
        while left.height > 0 {
            let target = next(scaling)
            let source = scaling.needed(for: target)
            let bottom = source.y + source.height
            keep(pixels, format, source, until: bottom)
            if top + rows < bottom { return }
            left.y += target.height
            left.height -= target.height
            var coming = bottom
            if left.height > 0 {
                // Scaling overwrites the screen's rows, of which the next stripe needs the last.
                let needed = scaling.needed(for: next(scaling))
                coming = min(needed.y, bottom)
                Self.grow(&following, toHold: needed)
                let start = (coming - top) * source.width * 4
                following.replaceSubrange(
                    0..<(bottom - coming) * source.width * 4,
                    with: stripe[start..<start + (bottom - coming) * source.width * 4])
            }
            convert(target, stride: source.width * 4, scaling, into: destination)
            swap(&stripe, &following)
            (top, rows) = (coming, bottom - coming)
        }
    }

    private func next(_ scaling: ScreenScaling) -> PixelRectangle {
        let rowBytes = max(1, scaling.source.width * 4 * scaling.source.height / max(1, scaling.target.height))
        let height = max(16, Self.stripeBytes / rowBytes) & ~1
        return PixelRectangle(x: left.x, y: left.y, width: left.width, height: min(height, left.height))
    }

    /// Copies the rows that follow those in `stripe`, up to `bottom`.
    private mutating func keep(
        _ pixels: GrabbedPixels, _ format: ScreenToPlanes.PixelFormat, _ source: PixelRectangle, until bottom: Int
    ) {
        let first = top + rows
        let end = min(bottom, pixels.rectangle.y + pixels.rectangle.height)
        if first < pixels.rectangle.y || first >= end { return }
        let from =
            pixels.base + (first - pixels.rectangle.y) * pixels.stride
            + (source.x - pixels.rectangle.x) * format.bytesPerPixel
        let stride = source.width * 4
        stripe.withUnsafeMutableBytes { bytes in
            guard let to = bytes.baseAddress.map({ $0 + (first - top) * stride }) else { return }
            if format == .rgb565 {
                ScreenScaling.widen(
                    from, stride: pixels.stride, width: source.width, height: end - first, into: to,
                    resultStride: stride)
                return
            }
            for row in 0..<end - first { memcpy(to + row * stride, from + row * pixels.stride, stride) }
        }
        rows = end - top
    }

    private mutating func convert(
        _ target: PixelRectangle, stride: Int, _ scaling: ScreenScaling, into destination: ScreenToPlanes.Destination
    ) {
        if scaled.count < target.width * target.height * 4 {
            scaled = [UInt8](repeating: 0, count: target.width * target.height * 4)
        }
        stripe.withUnsafeMutableBytes { from in
            scaled.withUnsafeMutableBytes { to in
                guard let from = from.baseAddress, let to = to.baseAddress,
                    scaling.scale(from, stride: stride, rectangle: target, into: to)
                else { return }
                ScreenToPlanes.convert(
                    to, stride: target.width * 4, format: .bgrx, rectangle: target, into: destination)
            }
        }
    }

    private static func grow(_ bytes: inout [UInt8], toHold source: PixelRectangle) {
        let count = source.width * source.height * 4 + ScreenScaling.slack
        if bytes.count < count { bytes = [UInt8](repeating: 0, count: count) }
    }
}
