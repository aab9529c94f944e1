import Clocks
import ColorConversion
import Glibc
import MediaTypes

/// Brings changed parts of the screen into the canvas: grabs them, scales them if pictures are smaller than the screen,
/// and converts them.
final class ScreenReader {
    private let screen: any ScreenSource
    private let canvas: PictureCanvas
    private let format: ScreenToPlanes.PixelFormat
    private let scaling: ScreenScaling?
    // A stripe of the screen, and the same stripe scaled; both with four bytes a pixel.
    private var stripe: [UInt8] = []
    private var scaled: [UInt8] = []

    /// The number of bytes of the screen to scale at once, unless a row of macroblocks has more.
    private static let stripeBytes = 1 << 20

    init(_ screen: any ScreenSource, into canvas: PictureCanvas) {
        self.screen = screen
        self.canvas = canvas
        format = screen.pixelFormat
        scaling = canvas.size == screen.size ? nil : ScreenScaling(from: screen.size, to: canvas.size)
    }

    /// The parts of the picture in which `area` of the screen is seen.
    func affected(by area: DamagedArea) -> DamagedArea {
        guard let scaling else { return area }
        return DamagedArea(area.rectangles.map(scaling.affected(by:)), in: canvas.size)
    }

    /// Brings `area` of the picture up to date; returns false if the screen refused to hand out pixels. `converting`
    /// is increased by the time spent on conversion.
    func read(_ area: DamagedArea, converting: inout Interval) throws(CaptureError) -> Bool {
        if let scaling { return try readScaled(area.rectangles, scaling, &converting) }
        let destination = canvas.destination
        let isComplete = try screen.grab(area) { pixels in
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
        for part in parts {
            var top = part.y
            while top < part.y + part.height {
                let rowBytes = max(1, scaling.source.width * 4 * scaling.source.height / max(1, scaling.target.height))
                let rows = max(16, Self.stripeBytes / rowBytes) & ~1
                let target = PixelRectangle(
                    x: part.x, y: top, width: part.width, height: min(rows, part.y + part.height - top))
                if try !readStripe(target, scaling, &converting) { return false }
                top += target.height
            }
            canvas.repeatEdges(part)
        }
        return true
    }

    private func readStripe(
        _ target: PixelRectangle, _ scaling: ScreenScaling, _ converting: inout Interval
    ) throws(CaptureError) -> Bool {
        let source = scaling.needed(for: target)
        let stride = source.width * 4
        Self.grow(&stripe, to: stride * source.height + ScreenScaling.slack)
        Self.grow(&scaled, to: target.width * target.height * 4)
        let isComplete = try screen.grab(DamagedArea([source], in: screen.size)) { pixels in
            let begin = MonotonicTime.now()
            stripe.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                let start =
                    base + (pixels.rectangle.y - source.y) * stride + (pixels.rectangle.x - source.x) * 4
                if format == .rgb565 {
                    ScreenScaling.widen(
                        pixels.base, stride: pixels.stride, width: pixels.rectangle.width,
                        height: pixels.rectangle.height, into: start, resultStride: stride)
                    return
                }
                for row in 0..<pixels.rectangle.height {
                    memcpy(start + row * stride, pixels.base + row * pixels.stride, pixels.rectangle.width * 4)
                }
            }
            converting = converting + (MonotonicTime.now() - begin)
        }
        if !isComplete { return false }
        let begin = MonotonicTime.now()
        let destination = canvas.destination
        stripe.withUnsafeMutableBytes { from in
            scaled.withUnsafeMutableBytes { to in
                guard let from = from.baseAddress, let to = to.baseAddress,
                    scaling.scale(from, stride: stride, rectangle: target, into: to)
                else { return }
                ScreenToPlanes.convert(
                    to, stride: target.width * 4, format: .bgrx, rectangle: target, into: destination)
            }
        }
        converting = converting + (MonotonicTime.now() - begin)
        return true
    }

    private static func grow(_ bytes: inout [UInt8], to count: Int) {
        if bytes.count < count { bytes = [UInt8](repeating: 0, count: count) }
    }
}
