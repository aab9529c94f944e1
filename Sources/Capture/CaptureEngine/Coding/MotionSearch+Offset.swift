import MediaTypes
import VideoEncoding

/// The search for the offset of what has moved.
extension MotionSearch {
    static let probeWidth = 16
    static let probeHeight = 8
    private static let probes = 12
    /// How far to search up, down and, if `isFar`, in both directions at once; to the sides; and usually in both
    /// directions at once.
    private static let far = 400
    private static let farAcross = 160
    static let near = 48
    /// The same letters stand in many places of a text. Of so many of them, the one with the same letters around it is
    /// found.
    private static let maxMatches = 200

    /// Finds the offset by which most places in `area` have moved, of those for which `isCandidate` is true; nil if too
    /// few agree. `last` has the offsets that are tried first. `isFar` searches far away in both directions at once,
    /// which takes half a millisecond. `isCertain` tells whether a third of the places agree.
    func offset(
        in current: SourcePlanes, _ previous: SourcePlanes, _ area: PixelRectangle, last: [Offset],
        isFar: Bool = false, isCandidate: (Int, Int) -> Bool
    ) -> (offset: Offset, isCertain: Bool)? {
        let places = places(in: current, previous, area, isCandidate)
        if places.count < 3 { return nil }
        func votes(_ offset: Offset) -> Int {
            var count = 0
            for place in places {
                let (x, y) = (place.x + offset.x, place.y + offset.y)
                guard x >= 0, y >= 0, x + Self.probeWidth <= width, y + Self.probeHeight <= height else { continue }
                if isEqual(current, place.x, place.y, previous, x, y) { count += 1 }
            }
            return count
        }
        if let offset = last.first(where: { votes($0) * 3 >= places.count }) { return (offset, true) }
        // A quarter of the votes is enough to look closer, because some places have just come into view, and others may
        // have moved differently.
        var bestCount = max(2, places.count / 4) - 1
        var best: Offset?
        for place in places.prefix(isFar ? 3 : 8) {
            var left = Self.maxMatches
            search(place, current, previous, isFar: isFar) { offset in
                let count = votes(offset)
                if count > bestCount { (best, bestCount) = (offset, count) }
                left -= 1
                return left == 0 || count * 2 >= places.count
            }
            if bestCount * 2 >= places.count { break }
        }
        return best.map { ($0, bestCount * 3 >= places.count) }
    }

    private typealias Place = Offset

    /// Finds distinctive places that have changed, spread over `area`.
    private func places(
        in current: SourcePlanes, _ previous: SourcePlanes, _ area: PixelRectangle, _ isCandidate: (Int, Int) -> Bool
    ) -> [Place] {
        var found: [Place] = []
        found.reserveCapacity(Self.probes)
        let right = min(area.x + area.width, width) - Self.probeWidth
        let bottom = min(area.y + area.height, height) - Self.probeHeight
        guard right > area.x, bottom > area.y else { return [] }
        // Odd steps, so that a regular pattern isn't met at the same phase each time.
        let (across, down) = (max(17, (right - area.x) / 23), max(7, (bottom - area.y) / 29))
        let first = area.y + down / 2
        let lines = max(1, (bottom - first) / down + 1)
        var shift = 0
        for line in 0..<lines {
            // Every third line, and then those between, so that a few places are spread over all of the area; and a
            // few rows lower each time, because lines of text may be as far apart.
            let place = line * 3 % lines + (lines % 3 == 0 ? line * 3 / lines : 0)
            let y = min(first + place * down + line * 5 % Self.probeHeight, bottom)
            var x = area.x + shift
            while x <= right {
                if isCandidate(x, y), isDistinct(current, x, y), !isEqual(current, x, y, previous, x, y) {
                    found.append((x, y))
                    if found.count == Self.probes { return found }
                    // One place in each row is enough to spread them.
                    break
                }
                x += across
            }
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

    /// Passes the offsets at which `place` may have been before to `ends`, until that returns true: straight above or
    /// below, to the sides, and near by; or, if `isFar`, far away.
    private func search(
        _ place: Place, _ current: SourcePlanes, _ previous: SourcePlanes, isFar: Bool, ends: (Offset) -> Bool
    ) {
        let stride = current.lumaStride
        let wanted = UnsafeRawPointer(current.luma + place.y * stride + place.x).loadUnaligned(as: UInt64.self)
        @inline(__always)
        func matches(_ x: Int, _ y: Int) -> Bool {
            UnsafeRawPointer(previous.luma + y * previous.lumaStride + x).loadUnaligned(as: UInt64.self) == wanted
                && isEqual(current, place.x, place.y, previous, x, y) && ends((x - place.x, y - place.y))
        }
        if !isFar {
            for distance in 1...min(reach, Self.far) {
                let (above, below) = (place.y - distance, place.y + distance)
                if below + Self.probeHeight <= height, matches(place.x, below) { return }
                if above >= 0, matches(place.x, above) { return }
            }
            for distance in 1...min(reach, Self.farAcross) {
                let (left, right) = (place.x - distance, place.x + distance)
                if right + Self.probeWidth <= width, matches(right, place.y) { return }
                if left >= 0, matches(left, place.y) { return }
            }
        }
        let distance = isFar ? min(reach, Self.far) : Self.near
        let top = max(0, place.y - distance)
        let bottom = min(height - Self.probeHeight, place.y + distance)
        let left = max(0, place.x - distance)
        let right = min(width - Self.probeWidth, place.x + distance)
        for y in top...bottom {
            for x in left...right where matches(x, y) { return }
        }
    }
}
