import CYUV
import Glibc
public import MediaTypes

/// Scales parts of a screen, and computes which part of the picture depends on which part of the screen.
///
/// If a dimension shrinks to half or less, it is first halved as often as possible by averaging pairs of pixels; then
/// the rest is interpolated. Interpolation alone would skip pixels and lose thin lines. The parts fit together without
/// a seam, because every pixel of the picture depends on the same pixels of the screen, whichever part it is in.
public struct ScreenScaling: Sendable {
    /// The size of the captured area.
    public let source: PictureSize
    /// The size of the pictures.
    public let target: PictureSize

    // The number of halvings in each dimension, and the size after them, which is less than twice the target.
    private let halvings: (x: Int, y: Int)
    private let halved: PictureSize

    /// The number of extra pixels on each side, after halving, that the filter reads.
    private static let reach = 2
    /// The number of bytes after the screen's pixels that libyuv may read, because it loads four pixels at a time.
    /// Their values don't matter.
    public static let slack = 64

    /// Creates a scaling of pictures from size `source` to size `target`.
    public init(from source: PictureSize, to target: PictureSize) {
        self.source = source
        self.target = target
        let (x, width) = Self.halvings(source.width, target.width)
        let (y, height) = Self.halvings(source.height, target.height)
        halvings = (x, y)
        halved = PictureSize(width: width, height: height)
    }

    private static func halvings(_ source: Int, _ target: Int) -> (count: Int, left: Int) {
        var (count, left) = (0, source)
        while target > 0, left >= target * 2 {
            // If the length is odd, the last pixel isn't averaged.
            left = (left + 1) / 2
            count += 1
        }
        return (count, left)
    }

    /// The part of the picture, aligned to even coordinates, that changes if `rectangle` of the screen changes.
    public func affected(by rectangle: PixelRectangle) -> PixelRectangle {
        let (left, right) = Self.affected(rectangle.x, rectangle.width, halvings.x, halved.width, target.width)
        let (top, bottom) = Self.affected(rectangle.y, rectangle.height, halvings.y, halved.height, target.height)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    private static func affected(
        _ start: Int, _ count: Int, _ halvings: Int, _ halved: Int, _ target: Int
    ) -> (Int, Int) {
        let begin = start >> halvings
        let end = (start + count + (1 << halvings) - 1) >> halvings
        let first = (begin - reach) * target / max(1, halved) - 1
        let last = ((end + reach) * target + halved - 1) / max(1, halved) + 1
        return (max(0, first) & ~1, min(target, (last + 1) & ~1))
    }

    /// The part of the screen, aligned to even coordinates, that is needed for `rectangle` of the picture.
    public func needed(for rectangle: PixelRectangle) -> PixelRectangle {
        let part = neededHalved(for: rectangle)
        let (left, top) = (part.x << halvings.x, part.y << halvings.y)
        return PixelRectangle(
            x: left, y: top, width: min(source.width, (part.x + part.width) << halvings.x) - left,
            height: min(source.height, (part.y + part.height) << halvings.y) - top)
    }

    private func neededHalved(for rectangle: PixelRectangle) -> PixelRectangle {
        let (left, right) = Self.needed(rectangle.x, rectangle.width, halved.width, target.width)
        let (top, bottom) = Self.needed(rectangle.y, rectangle.height, halved.height, target.height)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    private static func needed(_ start: Int, _ count: Int, _ halved: Int, _ target: Int) -> (Int, Int) {
        let first = start * halved / max(1, target) - reach
        let last = ((start + count) * halved + target - 1) / max(1, target) + reach
        return (max(0, first) & ~1, min(halved, (last + 1) & ~1))
    }

    /// Writes the picture's pixels of `rectangle` to `result`, row by row with four bytes a pixel.
    ///
    /// `pixels` must hold the screen's pixels of `needed(for: rectangle)` in the same form, with `stride` bytes a row
    /// and `slack` bytes after the last pixel. They are overwritten, because halving happens in place.
    ///
    /// Returns false if `rectangle` is empty or outside the picture.
    public func scale(
        _ pixels: UnsafeMutableRawPointer, stride: Int, rectangle: PixelRectangle,
        into result: UnsafeMutableRawPointer
    ) -> Bool {
        var part = needed(for: rectangle)
        guard !rectangle.isEmpty, !part.isEmpty, rectangle.x >= 0, rectangle.y >= 0,
            rectangle.x + rectangle.width <= target.width, rectangle.y + rectangle.height <= target.height
        else { return false }
        for step in 0..<max(halvings.x, halvings.y) {
            part = Self.halve(pixels, stride, part, alongX: step < halvings.x, alongY: step < halvings.y)
        }
        let resultStride = rectangle.width * 4
        // libyuv counts from the whole picture's top left corner, but touches only the pixels that the clip needs.
        let whole = pixels.assumingMemoryBound(to: UInt8.self) - part.y * stride - part.x * 4
        let wholeResult =
            result.assumingMemoryBound(to: UInt8.self) - rectangle.y * resultStride - rectangle.x * 4
        return ARGBScaleClip(
            whole, Int32(clamping: stride), Int32(clamping: halved.width), Int32(clamping: halved.height),
            wholeResult, Int32(clamping: resultStride), Int32(clamping: target.width), Int32(clamping: target.height),
            Int32(clamping: rectangle.x), Int32(clamping: rectangle.y), Int32(clamping: rectangle.width),
            Int32(clamping: rectangle.height), kFilterBilinear) == 0
    }

    /// Averages pairs of pixels, or blocks of two by two, in place. `part` must begin at an even position. If the
    /// length is odd, the last pixel isn't averaged.
    ///
    /// libyuv isn't used because it rounds the last pixels of a row differently from the others, so parts wouldn't fit
    /// together.
    private static func halve(
        _ pixels: UnsafeMutableRawPointer, _ stride: Int, _ part: PixelRectangle, alongX: Bool, alongY: Bool
    ) -> PixelRectangle {
        let columns = alongX ? (part.width + 1) / 2 : part.width
        let rows = alongY ? (part.height + 1) / 2 : part.height
        for row in 0..<rows {
            let upper = pixels + (alongY ? row * 2 : row) * stride
            let lower = alongY && row * 2 + 1 < part.height ? upper + stride : upper
            halve(upper, lower, count: part.width, alongX: alongX, into: pixels + row * stride)
        }
        return PixelRectangle(
            x: alongX ? part.x / 2 : part.x, y: alongY ? part.y / 2 : part.y, width: columns, height: rows)
    }

    private static func halve(
        _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, count: Int, alongX: Bool,
        into result: UnsafeMutableRawPointer
    ) {
        func pixel(_ row: UnsafeRawPointer, _ column: Int) -> UInt32 {
            row.loadUnaligned(fromByteOffset: column * 4, as: UInt32.self)
        }
        if !alongX {
            for column in 0..<count {
                let (first, second) = (pixel(upper, column), pixel(lower, column))
                result.storeBytes(of: mean(first, second, first, second), toByteOffset: column * 4, as: UInt32.self)
            }
            return
        }
        for column in 0..<count / 2 {
            let mean = mean(
                pixel(upper, column * 2), pixel(upper, column * 2 + 1), pixel(lower, column * 2),
                pixel(lower, column * 2 + 1))
            result.storeBytes(of: mean, toByteOffset: column * 4, as: UInt32.self)
        }
        guard count % 2 == 1 else { return }
        let (first, second) = (pixel(upper, count - 1), pixel(lower, count - 1))
        result.storeBytes(of: mean(first, second, first, second), toByteOffset: count / 2 * 4, as: UInt32.self)
    }

    /// Averages each byte of four pixels.
    @inline(__always)
    private static func mean(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) -> UInt32 {
        let mask: UInt32 = 0x00FF_00FF
        // Handles two bytes at once, with room for the sum of four.
        let low = (first & mask) &+ (second & mask) &+ (third & mask) &+ (fourth & mask) &+ 0x0002_0002
        let high =
            (first >> 8 & mask) &+ (second >> 8 & mask) &+ (third >> 8 & mask) &+ (fourth >> 8 & mask) &+ 0x0002_0002
        return (low >> 2 & mask) | (high >> 2 & mask) << 8
    }

    /// Converts 16-bit pixels to four bytes each, row by row.
    public static func widen(
        _ source: UnsafeRawPointer, stride: Int, width: Int, height: Int, into result: UnsafeMutableRawPointer,
        resultStride: Int
    ) {
        _ = RGB565ToARGB(
            source.assumingMemoryBound(to: UInt8.self), Int32(clamping: stride),
            result.assumingMemoryBound(to: UInt8.self), Int32(clamping: resultStride), Int32(clamping: width),
            Int32(clamping: height))
    }
}
