import MediaTypes
import VideoEncoding

/// The search for the offset of what has moved.
extension MotionSearch {
    static let probeWidth = 16
    static let probeHeight = 8
    private static let probes = 12
    /// How far to search up and down, to the sides, and in both directions at once.
    private static let farDown = 400
    private static let farAcross = 160
    static let near = 48

    /// Finds the offset by which most places in `area` have moved, of those for which `isCandidate` is true; nil if too
    /// few agree. `last` has the offsets that are tried first.
    func offset(
        in current: SourcePlanes, _ previous: SourcePlanes, _ area: PixelRectangle, last: [Offset],
        isCandidate: (Int, Int) -> Bool
    ) -> Offset? {
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
        // A quarter of the votes is enough to look closer, because some places have just come into view, and others may
        // have moved differently. Lines that begin alike give wrong offsets, which get few.
        let enough = max(2, places.count / 4)
        if let offset = last.first(where: { votes($0) * 3 >= places.count }) { return offset }
        var best: (offset: Offset, votes: Int)?
        for place in places.prefix(8) {
            guard let found = search(place, current, previous) else { continue }
            let count = votes(found)
            if count >= max(enough, (best?.votes ?? 0) + 1) { best = (found, count) }
            if count * 2 >= places.count { break }
        }
        return best?.offset
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
        var y = area.y + down / 2
        var shift = 0
        while y <= bottom {
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

    /// Finds where `place` was before: straight above or below, to the sides, or near by.
    private func search(_ place: Place, _ current: SourcePlanes, _ previous: SourcePlanes) -> Offset? {
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
}
