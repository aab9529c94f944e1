public import MediaTypes

/// A few rectangles that cover what has changed in a picture: aligned to even coordinates, inside the picture, and not
/// overlapping.
public struct DamagedArea: Sendable, Equatable {
    /// The rectangles, in no particular order.
    public private(set) var rectangles: [PixelRectangle] = []

    /// The most rectangles; beyond that, the nearest are merged. Each rectangle costs a request and a conversion.
    public static let maxRectangles = 16

    /// Covers `changes` with rectangles inside a picture of `size`.
    ///
    /// The left and top edges are rounded down to even numbers, and the right and bottom edges up, because a chroma
    /// sample covers two pixels each way. At the picture's own right and bottom edges, they may be odd.
    public init(_ changes: [PixelRectangle], in size: PictureSize) {
        rectangles.reserveCapacity(min(changes.count, Self.maxGathered))
        set(changes, in: size)
    }

    /// Creates an area in which nothing has changed.
    public init() {}

    // The number of rectangles that are gathered before neighbours are merged.
    private static let maxGathered = 64
    // Two rectangles are merged if that adds at most the pixels of three macroblocks: those cost less than a second
    // request.
    private static let fewPixels = 3 * 256

    /// Covers `changes` instead, in the same memory.
    public mutating func set(_ changes: [PixelRectangle], in size: PictureSize) {
        rectangles.removeAll(keepingCapacity: true)
        // X regions are sorted by rows, so neighbours in the list are near each other on the screen.
        let group = max(1, (changes.count + Self.maxGathered - 1) / Self.maxGathered)
        var members = 0
        for change in changes {
            let inside = change.intersection(size.whole)
            if inside.isEmpty { continue }
            let left = inside.x & ~1
            let top = inside.y & ~1
            let right = min(size.width, (inside.x + inside.width + 1) & ~1)
            let bottom = min(size.height, (inside.y + inside.height + 1) & ~1)
            let aligned = PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
            if members % group == 0 {
                rectangles.append(aligned)
            } else {
                rectangles[rectangles.count - 1] = rectangles[rectangles.count - 1].union(aligned)
            }
            members += 1
        }
        mergeClose()
        while rectangles.count > Self.maxRectangles {
            mergeNearest()
            mergeClose()
        }
    }

    /// Whether nothing has changed.
    public var isEmpty: Bool { rectangles.isEmpty }

    /// The smallest rectangle that covers the whole area.
    public var bounds: PixelRectangle {
        rectangles.reduce(PixelRectangle.nothing) { $0.union($1) }
    }

    /// Merges rectangles that overlap, and those so close that one rectangle is cheaper than two.
    private mutating func mergeClose() {
        var index = 0
        while index < rectangles.count {
            var other = index + 1
            var hasGrown = false
            while other < rectangles.count {
                let union = rectangles[index].union(rectangles[other])
                let added = Self.area(union) - Self.area(rectangles[index]) - Self.area(rectangles[other])
                if added <= Self.fewPixels || !rectangles[index].intersection(rectangles[other]).isEmpty {
                    rectangles[index] = union
                    rectangles.swapAt(other, rectangles.count - 1)
                    rectangles.removeLast()
                    hasGrown = true
                } else {
                    other += 1
                }
            }
            // The rectangle has grown, and may now be close to one that was not close before.
            index = hasGrown ? 0 : index + 1
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
    }

    private static func area(_ rectangle: PixelRectangle) -> Int { rectangle.width * rectangle.height }
}
