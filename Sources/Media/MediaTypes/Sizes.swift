/// A bit rate.
public struct BitRate: Hashable, Comparable, Sendable {
    /// The rate in bits (not bytes) per second.
    public var bitsPerSecond: Int

    /// A rate of `bitsPerSecond`.
    public init(bitsPerSecond: Int) {
        self.bitsPerSecond = bitsPerSecond
    }

    /// The highest rate for encoders: above what any of our sources sends, so in effect no limit.
    public static let highest = BitRate(bitsPerSecond: 100_000_000)
    /// The rate of a capture whose user has set none, while nothing is known of the viewers' paths.
    public static let usual = BitRate(bitsPerSecond: 4_000_000)

    public static func < (left: BitRate, right: BitRate) -> Bool { left.bitsPerSecond < right.bitsPerSecond }
}

/// The visible size of a picture, in pixels.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// A size of `width` columns and `height` rows.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// All of a picture of this size.
    package var whole: PixelRectangle { PixelRectangle(x: 0, y: 0, width: width, height: height) }

    public var description: String { "\(width)x\(height)" }
}

/// A rectangle of pixels, measured from the top left corner.
public struct PixelRectangle: Hashable, Sendable {
    /// The leftmost column.
    public var x: Int
    /// The topmost row.
    public var y: Int
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// The rectangle whose top left corner is (`x`, `y`).
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Its width and height.
    public var size: PictureSize { PictureSize(width: width, height: height) }

    /// A rectangle that covers no pixel.
    package static let nothing = PixelRectangle(x: 0, y: 0, width: 0, height: 0)

    /// The same rectangle, moved by `dx` and `dy`.
    public func moved(x dx: Int, y dy: Int) -> PixelRectangle {
        PixelRectangle(x: x + dx, y: y + dy, width: width, height: height)
    }

    /// Whether it covers no pixel.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The smallest rectangle that covers both.
    public func union(_ other: PixelRectangle) -> PixelRectangle {
        if isEmpty { return other }
        if other.isEmpty { return self }
        let left = min(x, other.x)
        let top = min(y, other.y)
        let right = max(x + width, other.x + other.width)
        let bottom = max(y + height, other.y + other.height)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The rectangle that both cover; empty if they don't overlap.
    public func intersection(_ other: PixelRectangle) -> PixelRectangle {
        let left = max(x, other.x)
        let top = max(y, other.y)
        let right = min(x + width, other.x + other.width)
        let bottom = min(y + height, other.y + other.height)
        return PixelRectangle(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
    }
}
