import MediaTypes
import VideoEncoding

/// Finds out what of a changed screen has only moved: text that scrolls, a window that is dragged, or two of them that
/// move differently.
///
/// A few distinctive places are searched for around their position, sample by sample. An offset that enough of them
/// agree on is tried on every macroblock. A macroblock counts as moved only if it is equal in luma and, if chroma moves
/// by whole samples, in chroma. The second offset is searched in what the first one left.
struct MotionSearch {
    let width: Int
    let height: Int
    let reach: Int
    private let columns: Int
    private let rows: Int
    /// The offsets that were found last; most likely the motion continues.
    private var last: [Offset] = []
    private var pause = Pause(maxLength: 30)
    /// For the second offset. Most pages scroll alone, but beside a log the other one moves only now and then.
    private var secondPause = Pause(maxLength: 4)
    /// For a search far away, in both directions at once: for windows that are dragged fast.
    private var farPause = Pause(maxLength: 8)
    private var lastArea = PixelRectangle.nothing

    typealias Offset = (x: Int, y: Int)

    /// Fewer macroblocks than this are coded as quickly as compared.
    static let minMacroblocks = 48
    /// If what is left to code is this small a part of what has moved, moving saves bytes for certain, and there is
    /// hardly a second motion.
    private static let smallPart = 8

    /// Creates a search for 4:2:0 pictures of `columns` by `rows` macroblocks, and an encoder that can move content by
    /// `reach` samples; 0 means not at all.
    init(columns: Int, rows: Int, reach: Int) {
        self.reach = reach
        self.columns = columns
        self.rows = rows
        width = columns * 16
        height = rows * 16
    }

    /// The pictures that aren't searched because the searches before them found nothing.
    private struct Pause {
        let maxLength: Int
        var left = 0
        var failures = 0

        /// Whether to leave out the next search.
        mutating func skips() -> Bool {
            left -= left > 0 ? 1 : 0
            return left > 0
        }

        mutating func searched(found: Bool) {
            failures = found ? 0 : failures + 1
            left = failures > 2 ? 1 + min(1 << min(failures - 3, 8), maxLength) : 0
        }
    }

    /// Whether both rectangles cover much the same area, so that what moved in one is likely to move in the other.
    private static func isAlike(_ a: PixelRectangle, _ b: PixelRectangle) -> Bool {
        let (width, height) = (
            min(a.x + a.width, b.x + b.width) - max(a.x, b.x), min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
        )
        if width <= 0 || height <= 0 { return false }
        return width * height * 4 >= max(a.width * a.height, b.width * b.height) * 3
    }

    /// Compares `current` with `previous`: what of it is unchanged, what has moved, and what is left to code. If moving
    /// saves no bytes, nothing counts as moved.
    ///
    /// - Parameters:
    ///   - area: The area that changed, in which motion is searched.
    ///   - selection: 1 for each macroblock that may have changed.
    ///   - saves: Whether moving is expected to take fewer bytes, if it leaves so many macroblocks to code of so many
    ///     that have changed.
    mutating func find(
        in current: SourcePlanes, from previous: SourcePlanes, area: PixelRectangle, selection: borrowing [UInt8],
        saves: (_ left: Int, _ changed: Int) -> Bool
    ) -> GlobalMotion {
        // While nothing is found in an area that keeps changing (a film), only some pictures are searched.
        if !Self.isAlike(area, lastArea) { pause.searched(found: true) }
        lastArea = area
        if reach < Self.near || pause.skips() { return survey(current, previous, (0, 0), selection) }
        var found = offset(in: current, previous, area, last: last, isCandidate: { _, _ in true })
        if found?.isCertain != true, !farPause.skips() {
            let far = offset(in: current, previous, area, last: [], isFar: true, isCandidate: { _, _ in true })
            farPause.searched(found: far != nil)
            found = far ?? found
        }
        pause.searched(found: found != nil)
        guard let found = found?.offset else {
            last = []
            return survey(current, previous, (0, 0), selection)
        }
        last = [found]
        var motion = survey(current, previous, found, selection)
        if motion.codedCount * Self.smallPart <= motion.movedCount { return motion }
        findSecond(in: current, previous, area, &motion)
        // Encoders find what moved straight ahead, but what moved in both directions at once only by chance.
        if found.x != 0, found.y != 0, motion.codedCount <= motion.movedCount { return motion }
        let still = survey(current, previous, (0, 0), selection)
        return motion.movedCount > 0 && saves(motion.codedCount, still.codedCount) ? motion : still
    }

    /// Searches what `motion` has left to code for a second offset.
    private mutating func findSecond(
        in current: SourcePlanes, _ previous: SourcePlanes, _ area: PixelRectangle, _ motion: inout GlobalMotion
    ) {
        guard motion.codedCount >= Self.minMacroblocks, !secondPause.skips() else { return }
        let coded = GlobalMotion.State.coded.rawValue
        let (states, columns) = (motion.states, columns)
        let second = offset(in: current, previous, area, last: last) { x, y in
            states[(y + Self.probeHeight / 2) / 16 * columns + (x + Self.probeWidth / 2) / 16] == coded
        }
        secondPause.searched(found: second != nil)
        guard let second = second?.offset else { return }
        last.append(second)
        motion.second = second
        for index in 0..<states.count where states[index] == coded {
            let (x, y) = (index % columns * 16, index / columns * 16)
            guard isMoved(current, x, y, previous, second) else { continue }
            motion.states[index] = GlobalMotion.State.movedApart.rawValue
            motion.movedCount += 1
            motion.codedCount -= 1
        }
    }

    // MARK: Macroblocks

    private func survey(
        _ current: SourcePlanes, _ previous: SourcePlanes, _ offset: Offset, _ selection: borrowing [UInt8]
    ) -> GlobalMotion {
        var motion = GlobalMotion(x: offset.x, y: offset.y, macroblocks: columns * rows)
        let isMotion = offset != (0, 0)
        for row in 0..<rows {
            for column in 0..<columns where selection[row * columns + column] != 0 {
                let index = row * columns + column
                if isMotion, isMoved(current, column * 16, row * 16, previous, offset) {
                    motion.states[index] = GlobalMotion.State.moved.rawValue
                    motion.movedCount += 1
                } else if !isSame(current, column * 16, row * 16, previous, column * 16, row * 16) {
                    motion.states[index] = GlobalMotion.State.coded.rawValue
                    motion.codedCount += 1
                }
            }
        }
        return motion
    }

    /// Whether the macroblock of `current` at `x`, `y` was at `offset` from there, inside the picture.
    private func isMoved(
        _ current: SourcePlanes, _ x: Int, _ y: Int, _ previous: SourcePlanes, _ offset: Offset
    ) -> Bool {
        let (otherX, otherY) = (x + offset.x, y + offset.y)
        return otherX >= 0 && otherY >= 0 && otherX + 16 <= width && otherY + 16 <= height
            && isSame(current, x, y, previous, otherX, otherY)
    }

    /// Whether the macroblock of `a` at `x`, `y` equals the samples of `b` at `otherX`, `otherY`.
    private func isSame(
        _ a: SourcePlanes, _ x: Int, _ y: Int, _ b: SourcePlanes, _ otherX: Int, _ otherY: Int
    ) -> Bool {
        let first = a.luma + y * a.lumaStride + x
        let second = b.luma + otherY * b.lumaStride + otherX
        // Most macroblocks that differ do so in the first rows.
        guard Self.isEqual(first, a.lumaStride, second, b.lumaStride, rows: 4),
            Self.isEqual(first + 4 * a.lumaStride, a.lumaStride, second + 4 * b.lumaStride, b.lumaStride, rows: 12)
        else { return false }
        // At offsets of half a chroma sample, the encoder compares chroma.
        if (otherX - x) & 1 != 0 || (otherY - y) & 1 != 0 { return true }
        let here = y / 2 * a.chromaStride + x / 2
        let there = otherY / 2 * b.chromaStride + otherX / 2
        return Self.isHalfEqual(a.blueDifference + here, a.chromaStride, b.blueDifference + there, b.chromaStride)
            && Self.isHalfEqual(a.redDifference + here, a.chromaStride, b.redDifference + there, b.chromaStride)
    }

    /// Whether rows of sixteen samples are equal. They are compared as words of eight bytes, because the compiler
    /// splits a comparison of byte vectors into single bytes.
    @inline(__always)
    static func isEqual(
        _ a: UnsafePointer<UInt8>, _ stride: Int, _ b: UnsafePointer<UInt8>, _ otherStride: Int, rows: Int
    ) -> Bool {
        var (first, second) = (UnsafeRawPointer(a), UnsafeRawPointer(b))
        var difference = SIMD2<UInt64>()
        for _ in 0..<rows {
            difference |=
                first.loadUnaligned(as: SIMD2<UInt64>.self) ^ second.loadUnaligned(as: SIMD2<UInt64>.self)
            first += stride
            second += otherStride
        }
        return difference.x | difference.y == 0
    }

    @inline(__always)
    private static func isHalfEqual(
        _ a: UnsafePointer<UInt8>, _ stride: Int, _ b: UnsafePointer<UInt8>, _ otherStride: Int
    ) -> Bool {
        var (first, second) = (UnsafeRawPointer(a), UnsafeRawPointer(b))
        var difference: UInt64 = 0
        for _ in 0..<8 {
            difference |= first.loadUnaligned(as: UInt64.self) ^ second.loadUnaligned(as: UInt64.self)
            first += stride
            second += otherStride
        }
        return difference == 0
    }
}
