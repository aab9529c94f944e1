import CYUV
import Glibc
public import MediaTypes

/// Makes parts of a screen smaller: which part of the screen a part of the picture is made of, and the picture's pixels of it.
///
/// A side that becomes half as long or less is halved first, by the mean of two pixels each, as often as that goes; what is
/// left is interpolated. By that alone the pixels between those that it takes in would be lost, and thin lines with them. Parts
/// fit together without a seam, because every pixel of the picture is made of the same pixels of the screen whichever part it is in.
public struct ScreenScaling: Sendable {
    /// The size of what is captured.
    public let source: PictureSize
    /// The size of the pictures; no side is longer than the source's.
    public let target: PictureSize

    // How often each side is halved, and what is there then: less than twice the target.
    private let halvings: (x: Int, y: Int)
    private let halved: PictureSize

    /// The filter takes in pixels beside those that a pixel stands for: of what was halved.
    private static let reach = 2
    /// libyuv loads pixels in fours: so many bytes behind the screen's pixels may be read, and don't count.
    public static let slack = 64

    /// From pictures of `source` to pictures of `target`.
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
            // Of an odd side the last pixel stands for itself.
            left = (left + 1) / 2
            count += 1
        }
        return (count, left)
    }

    /// The part of the picture, even-aligned, that changes when `rectangle` of the screen does.
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

    /// The part of the screen that `rectangle` of the picture is made of, even-aligned.
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

    /// Writes the picture's pixels of `rectangle` to `result`, four bytes each and row by row, made of `pixels`, the screen's
    /// of `needed(for: rectangle)` in the same form, `stride` bytes a row, and `slack` bytes behind the last one.
    ///
    /// What is halved first is halved in `pixels`, which hold no part of the screen any longer then.
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
        // libyuv counts from the whole picture's top left corner, and touches only what the clip is made of.
        let whole = pixels.assumingMemoryBound(to: UInt8.self) - part.y * stride - part.x * 4
        let wholeResult =
            result.assumingMemoryBound(to: UInt8.self) - rectangle.y * resultStride - rectangle.x * 4
        return ARGBScaleClip(
            whole, Int32(clamping: stride), Int32(clamping: halved.width), Int32(clamping: halved.height),
            wholeResult, Int32(clamping: resultStride), Int32(clamping: target.width), Int32(clamping: target.height),
            Int32(clamping: rectangle.x), Int32(clamping: rectangle.y), Int32(clamping: rectangle.width),
            Int32(clamping: rectangle.height), kFilterBilinear) == 0
    }

    /// Puts the means of two pixels, or of two by two, in the place of the first ones; `part` begins at an even place. The
    /// last of an odd number stands for itself.
    ///
    /// Not libyuv's: that rounds the last pixels of a row in another way than those before, so that parts wouldn't fit.
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

    /// The mean of each byte.
    @inline(__always)
    private static func mean(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) -> UInt32 {
        let mask: UInt32 = 0x00FF_00FF
        // Two bytes at once, with room for what four of them add up to.
        let low = (first & mask) &+ (second & mask) &+ (third & mask) &+ (fourth & mask) &+ 0x0002_0002
        let high =
            (first >> 8 & mask) &+ (second >> 8 & mask) &+ (third >> 8 & mask) &+ (fourth >> 8 & mask) &+ 0x0002_0002
        return (low >> 2 & mask) | (high >> 2 & mask) << 8
    }

    /// Widens 16-bit pixels to four bytes each, row by row.
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
