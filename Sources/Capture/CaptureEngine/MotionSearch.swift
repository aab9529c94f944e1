import Glibc
import MediaTypes
import VideoEncoding

/// Finds out whether most of what changed on a screen has only moved: text that scrolls, or a window that is dragged.
///
/// A few distinctive places are searched for around their position, sample by sample. An offset that enough of them
/// agree on is tried on every macroblock. A macroblock counts as moved only if it is equal in luma and, if chroma moves
/// by whole samples, in chroma.
struct MotionSearch {
    private let width: Int
    private let height: Int
    private let columns: Int
    private let rows: Int
    private let reach: Int
    /// The offset that was found last; most likely the motion continues.
    private var last: (x: Int, y: Int)?
    /// The number of pictures to skip, because the last searches found nothing.
    private var pause = 0
    private var failures = 0
    private var lastArea = PixelRectangle(x: 0, y: 0, width: 0, height: 0)

    /// Fewer macroblocks than this are coded as quickly as compared.
    static let fewestMacroblocks = 48

    private static let probes = 12
    private static let probeWidth = 16
    private static let probeHeight = 8
    /// How far to search up and down, to the sides, and in both directions at once.
    private static let farDown = 400
    private static let farAcross = 160
    private static let near = 48
    private static let longestPause = 30

    /// Creates a search for 4:2:0 pictures of `columns` by `rows` macroblocks, and an encoder that can move content by
    /// `reach` samples; 0 means not at all.
    init(columns: Int, rows: Int, reach: Int) {
        self.reach = reach
        self.columns = columns
        self.rows = rows
        width = columns * 16
        height = rows * 16
    }

    /// Whether to search a picture in which `area` changed. While nothing is found in an area that keeps changing (a
    /// film), only some pictures are searched.
    private mutating func begins(_ area: PixelRectangle) -> Bool {
        if reach < Self.near { return false }
        if !Self.isAlike(area, lastArea) { (pause, failures) = (0, 0) }
        lastArea = area
        if pause > 0 {
            pause -= 1
            return false
        }
        return true
    }

    /// Whether both rectangles cover much the same area, so that what moved in one is likely to move in the other.
    private static func isAlike(_ a: PixelRectangle, _ b: PixelRectangle) -> Bool {
        let (width, height) = (
            min(a.x + a.width, b.x + b.width) - max(a.x, b.x), min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
        )
        if width <= 0 || height <= 0 { return false }
        return width * height * 4 >= max(a.width * a.height, b.width * b.height) * 3
    }

    /// Compares `current` with `previous`: what of it is unchanged, what has moved as a whole, and what is left to
    /// code. If moving saves too little, nothing counts as moved.
    ///
    /// - Parameters:
    ///   - area: The area that changed, in which motion is searched.
    ///   - active: 1 for each macroblock that may have changed.
    mutating func find(
        in current: SourcePlanes, from previous: SourcePlanes, area: PixelRectangle, active: borrowing [UInt8]
    ) -> PictureMotion {
        if begins(area) {
            let places = places(in: current, previous, area)
            if places.count >= 3, let offset = offset(of: places, current, previous, area) {
                let motion = survey(current, previous, offset, active)
                if saves(motion) {
                    last = offset
                    failures = 0
                    return motion
                }
            }
            giveUp()
        }
        return survey(current, previous, (0, 0), active)
    }

    /// Whether coding what is left costs less than the encoder's own search would.
    private func saves(_ motion: PictureMotion) -> Bool {
        motion.codedCount <= motion.movedCount
    }

    private mutating func giveUp() {
        last = nil
        failures += 1
        pause = failures > 2 ? min(1 << min(failures - 3, 8), Self.longestPause) : 0
    }

    // MARK: Places

    private struct Place {
        let x: Int
        let y: Int
    }

    /// Finds distinctive places that have changed, spread over `area`.
    private func places(in current: SourcePlanes, _ previous: SourcePlanes, _ area: PixelRectangle) -> [Place] {
        var found: [Place] = []
        found.reserveCapacity(Self.probes)
        let right = min(area.x + area.width, width) - Self.probeWidth
        let bottom = min(area.y + area.height, height) - Self.probeHeight
        guard right > area.x, bottom > area.y else { return [] }
        // Odd steps, so that a regular pattern isn't met at the same phase each time.
        let (across, down) = (max(17, (right - area.x) / 23), max(7, (bottom - area.y) / 29))
        var y = area.y + down / 2
        var shift = 0
        while y <= bottom {
            var x = area.x + shift
            while x <= right {
                if isDistinct(current, x, y), !isEqual(current, x, y, previous, x, y) {
                    found.append(Place(x: x, y: y))
                    if found.count == Self.probes { return found }
                    // One place in each row is enough to spread them.
                    break
                }
                x += across
            }
            y += down
            shift = (shift + 5 * across) % max(1, right - area.x)
        }
        return found
    }

    /// Whether neighbouring samples differ often enough for the place to be found again.
    private func isDistinct(_ picture: SourcePlanes, _ x: Int, _ y: Int) -> Bool {
        let row = picture.luma + y * picture.lumaStride + x
        var edges = 0
        for index in 1..<Self.probeWidth where abs(Int(row[index]) - Int(row[index - 1])) > 8 { edges += 1 }
        return edges >= 4
    }

    @inline(__always)
    private func isEqual(
        _ a: SourcePlanes, _ x: Int, _ y: Int, _ b: SourcePlanes, _ otherX: Int, _ otherY: Int
    ) -> Bool {
        Self.isEqual(
            a.luma + y * a.lumaStride + x, a.lumaStride, b.luma + otherY * b.lumaStride + otherX, b.lumaStride,
            rows: Self.probeHeight)
    }

    /// Whether rows of sixteen samples are equal. They are compared as words of eight bytes, because the compiler
    /// splits a comparison of byte vectors into single bytes.
    @inline(__always)
    private static func isEqual(
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

    // MARK: Offset

    private func offset(
        of places: [Place], _ current: SourcePlanes, _ previous: SourcePlanes, _ area: PixelRectangle
    ) -> (x: Int, y: Int)? {
        func votes(_ offset: (x: Int, y: Int)) -> Int {
            var count = 0
            for place in places {
                let (x, y) = (place.x + offset.x, place.y + offset.y)
                guard x >= 0, y >= 0, x + Self.probeWidth <= width, y + Self.probeHeight <= height else { continue }
                if isEqual(current, place.x, place.y, previous, x, y) { count += 1 }
            }
            return count
        }
        // A third of the votes is enough to look closer, because some places have just come into view.
        let enough = max(2, places.count / 3)
        if let last, votes(last) >= enough { return last }
        for place in places.prefix(8) {
            if let found = search(place, current, previous), votes(found) >= enough { return found }
        }
        return nil
    }

    /// Finds where `place` was before: straight above or below, to the sides, or near by.
    private func search(_ place: Place, _ current: SourcePlanes, _ previous: SourcePlanes) -> (x: Int, y: Int)? {
        let stride = current.lumaStride
        let wanted = UnsafeRawPointer(current.luma + place.y * stride + place.x).loadUnaligned(as: UInt64.self)
        @inline(__always)
        func matches(_ x: Int, _ y: Int) -> Bool {
            UnsafeRawPointer(previous.luma + y * previous.lumaStride + x).loadUnaligned(as: UInt64.self) == wanted
                && isEqual(current, place.x, place.y, previous, x, y)
        }
        for distance in 1...min(reach, Self.farDown) {
            let (above, below) = (place.y - distance, place.y + distance)
            if below + Self.probeHeight <= height, matches(place.x, below) { return (0, distance) }
            if above >= 0, matches(place.x, above) { return (0, -distance) }
        }
        for distance in 1...min(reach, Self.farAcross) {
            let (left, right) = (place.x - distance, place.x + distance)
            if right + Self.probeWidth <= width, matches(right, place.y) { return (distance, 0) }
            if left >= 0, matches(left, place.y) { return (-distance, 0) }
        }
        let top = max(0, place.y - Self.near)
        let bottom = min(height - Self.probeHeight, place.y + Self.near)
        let left = max(0, place.x - Self.near)
        let right = min(width - Self.probeWidth, place.x + Self.near)
        for y in top...bottom {
            for x in left...right where matches(x, y) && (x, y) != (place.x, place.y) {
                return (x - place.x, y - place.y)
            }
        }
        return nil
    }

    // MARK: Macroblocks

    private func survey(
        _ current: SourcePlanes, _ previous: SourcePlanes, _ offset: (x: Int, y: Int), _ active: borrowing [UInt8]
    ) -> PictureMotion {
        var motion = PictureMotion(x: offset.x, y: offset.y, macroblocks: columns * rows)
        let isMotion = offset != (0, 0)
        for row in 0..<rows {
            for column in 0..<columns where active[row * columns + column] != 0 {
                let index = row * columns + column
                let (x, y) = (column * 16 + offset.x, row * 16 + offset.y)
                let isInside = x >= 0 && y >= 0 && x + 16 <= width && y + 16 <= height
                if isMotion, isInside, isSame(current, column * 16, row * 16, previous, x, y) {
                    motion.states[index] = PictureMotion.State.moved.rawValue
                    motion.movedCount += 1
                } else if !isSame(current, column * 16, row * 16, previous, column * 16, row * 16) {
                    motion.states[index] = PictureMotion.State.coded.rawValue
                    motion.codedCount += 1
                }
            }
        }
        return motion
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
}
