import CYUV
import Glibc
public import MediaTypes

/// Makes parts of a screen smaller: which part of the screen a part of the picture is made of, and the picture's pixels of it.
///
/// Parts fit together without a seam, because every pixel of the picture is made of the same pixels of the screen whichever
/// part it is in.
public struct ScreenScaling: Sendable {
    /// The size of what is captured.
    public let source: PictureSize
    /// The size of the pictures; no side is longer than the source's.
    public let target: PictureSize

    /// The filter takes in pixels beside those that a pixel stands for.
    private static let reach = 2

    /// From pictures of `source` to pictures of `target`.
    public init(from source: PictureSize, to target: PictureSize) {
        self.source = source
        self.target = target
    }

    /// The part of the picture, even-aligned, that changes when `rectangle` of the screen does.
    public func affected(by rectangle: PixelRectangle) -> PixelRectangle {
        let (left, right) = Self.affected(rectangle.x, rectangle.width, source.width, target.width)
        let (top, bottom) = Self.affected(rectangle.y, rectangle.height, source.height, target.height)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    private static func affected(_ start: Int, _ count: Int, _ source: Int, _ target: Int) -> (Int, Int) {
        let first = (start - reach) * target / max(1, source) - 1
        let last = ((start + count + reach) * target + source - 1) / max(1, source) + 1
        return (max(0, first) & ~1, min(target, (last + 1) & ~1))
    }

    /// The part of the screen that `rectangle` of the picture is made of, even-aligned.
    public func needed(for rectangle: PixelRectangle) -> PixelRectangle {
        let (left, right) = Self.needed(rectangle.x, rectangle.width, source.width, target.width)
        let (top, bottom) = Self.needed(rectangle.y, rectangle.height, source.height, target.height)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    private static func needed(_ start: Int, _ count: Int, _ source: Int, _ target: Int) -> (Int, Int) {
        let first = start * source / max(1, target) - reach
        let last = ((start + count) * source + target - 1) / max(1, target) + reach
        return (max(0, first) & ~1, min(source, (last + 1) & ~1))
    }

    /// Writes the picture's pixels of `rectangle` to `result`, four bytes each and row by row, made of `pixels`, the screen's
    /// of `needed(for: rectangle)` in the same form, `stride` bytes a row.
    public func scale(
        _ pixels: UnsafeRawPointer, stride: Int, rectangle: PixelRectangle, into result: UnsafeMutableRawPointer
    ) -> Bool {
        let part = needed(for: rectangle)
        guard !rectangle.isEmpty, !part.isEmpty, rectangle.x >= 0, rectangle.y >= 0,
            rectangle.x + rectangle.width <= target.width, rectangle.y + rectangle.height <= target.height
        else { return false }
        let resultStride = rectangle.width * 4
        // libyuv counts from the whole picture's top left corner, and touches only what the clip is made of.
        let whole = pixels.assumingMemoryBound(to: UInt8.self) - part.y * stride - part.x * 4
        let wholeResult =
            result.assumingMemoryBound(to: UInt8.self) - rectangle.y * resultStride - rectangle.x * 4
        return ARGBScaleClip(
            whole, Int32(clamping: stride), Int32(clamping: source.width), Int32(clamping: source.height),
            wholeResult, Int32(clamping: resultStride), Int32(clamping: target.width), Int32(clamping: target.height),
            Int32(clamping: rectangle.x), Int32(clamping: rectangle.y), Int32(clamping: rectangle.width),
            Int32(clamping: rectangle.height), kFilterBox) == 0
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
