public import MediaTypes

/// A few rectangles that cover what has changed on a picture: even-aligned, inside the picture, and not overlapping.
public struct DamagedArea: Sendable, Equatable {
    /// The rectangles, in no order.
    public private(set) var rectangles: [PixelRectangle] = []

    /// Each rectangle costs a request and a conversion; above so many the nearest are merged.
    public static let mostRectangles = 16

    /// The area of `changes`, for a picture of `size`.
    ///
    /// Left and top are rounded down to even numbers and right and bottom up, because a chroma sample covers two pixels each
    /// way; at the picture's own edges they may be odd.
    public init(_ changes: some Sequence<PixelRectangle>, in size: PictureSize) {
        let whole = PixelRectangle(x: 0, y: 0, width: size.width, height: size.height)
        for change in changes {
            let inside = change.intersection(whole)
            if inside.isEmpty { continue }
            let left = inside.x & ~1
            let top = inside.y & ~1
            let right = min(size.width, (inside.x + inside.width + 1) & ~1)
            let bottom = min(size.height, (inside.y + inside.height + 1) & ~1)
            rectangles.append(PixelRectangle(x: left, y: top, width: right - left, height: bottom - top))
        }
        mergeNeighbours(atMost: 64)
        mergeOverlapping()
        while rectangles.count > Self.mostRectangles { mergeNearest() }
    }

    /// Whether nothing has changed.
    public var isEmpty: Bool { rectangles.isEmpty }

    /// The smallest rectangle that covers all of it.
    public var bounds: PixelRectangle {
        rectangles.reduce(PixelRectangle(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }
    }

    /// A region comes sorted by rows, so that neighbours in the list are near each other on the screen.
    private mutating func mergeNeighbours(atMost limit: Int) {
        if rectangles.count <= limit { return }
        let group = (rectangles.count + limit - 1) / limit
        rectangles = stride(from: 0, to: rectangles.count, by: group).map { start in
            let members = rectangles[start..<min(start + group, rectangles.count)]
            return members.dropFirst().reduce(members[start]) { $0.union($1) }
        }
    }

    private mutating func mergeOverlapping() {
        var index = 0
        while index < rectangles.count {
            let other = rectangles.indices.first {
                $0 > index && !rectangles[$0].intersection(rectangles[index]).isEmpty
            }
            guard let other else {
                index += 1
                continue
            }
            rectangles[index] = rectangles[index].union(rectangles[other])
            rectangles.remove(at: other)
            // It has grown, and may now overlap one that it didn't before.
            index = 0
        }
    }

    private mutating func mergeNearest() {
        var best = (first: 0, second: 1, growth: Int.max)
        for first in rectangles.indices {
            for second in rectangles.indices where second > first {
                let union = rectangles[first].union(rectangles[second])
                let growth = Self.area(union) - Self.area(rectangles[first]) - Self.area(rectangles[second])
                if growth < best.growth { best = (first, second, growth) }
            }
        }
        rectangles[best.first] = rectangles[best.first].union(rectangles[best.second])
        rectangles.remove(at: best.second)
        mergeOverlapping()
    }

    private static func area(_ rectangle: PixelRectangle) -> Int { rectangle.width * rectangle.height }
}
