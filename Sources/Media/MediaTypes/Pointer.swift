/// The pointer's image: at most 96 pixels a side, so that it fits into a control message.
public struct CursorImage: Hashable, Sendable {
    /// The longest side that can be sent.
    public static let maxSide = 96

    /// The width and height; 0 by 0 for a pointer that can't be seen.
    public let size: PictureSize
    /// The column of the hot spot, which is the pixel that points, counted from the left.
    public let hotX: Int
    /// The row of the hot spot, counted from the top.
    public let hotY: Int
    /// The pixels with premultiplied alpha, row by row: alpha in the highest byte, then red, green, blue.
    public let pixels: [UInt32]

    /// Creates an image; nil if there are not as many pixels as `size` says, or a side is longer than `maxSide`.
    public init?(size: PictureSize, hotX: Int, hotY: Int, pixels: [UInt32]) {
        let sides = 0...Self.maxSide
        guard sides.contains(size.width), sides.contains(size.height), pixels.count == size.width * size.height else {
            return nil
        }
        self.size = size
        self.hotX = hotX
        self.hotY = hotY
        self.pixels = pixels
    }
}

/// Where the pointer is.
public struct PointerPosition: Hashable, Sendable {
    /// The column of the hot spot, in pixels of the picture from its left edge; it may lie outside.
    public var x: Int
    /// The row of the hot spot, in pixels of the picture from its top edge; it may lie outside.
    public var y: Int
    /// Whether the pointer is within the captured area at all.
    public var isVisible: Bool

    /// A position.
    public init(x: Int, y: Int, isVisible: Bool) {
        self.x = x
        self.y = y
        self.isVisible = isVisible
    }
}

/// A report about the pointer: its state as the track's source reports it, and whether the track's pictures show it.
public enum PointerReport: Sendable, Hashable {
    /// A source was attached or has reported its abilities: whether it can leave the pointer out of its pictures.
    case ability(tellsPointer: Bool)
    /// The pointer's shape from here on.
    case shape(CursorImage)
    /// Where the pointer is, in pixels of a picture of that size; the size is nil if the source has not reported one.
    case position(PointerPosition, of: PictureSize?)
    /// The source left or started again, so its reports about the pointer no longer hold.
    case lost
    /// Whether the pointer is drawn in the track's pictures, beginning with the one that was just published.
    case pictures(areDrawn: Bool)
}

/// Where a viewer points at the pictures, and what it has drawn on them since its last report.
public struct ViewerPoint: Hashable, Sendable {
    /// A place in a picture.
    public struct Place: Hashable, Sendable {
        /// The coordinates of the bottom right corner.
        public static let limit: UInt16 = 65_534

        /// From the left edge, in parts of ``limit`` of the picture's width.
        public let x: UInt16
        /// From the top edge, in parts of ``limit`` of the picture's height.
        public let y: UInt16

        /// A place; coordinates beyond `limit` are clamped to it.
        public init(x: UInt16, y: UInt16) {
            self.x = min(x, Self.limit)
            self.y = min(y, Self.limit)
        }

        /// A place in fractions of the picture's width and height; nil outside 0...1.
        public init?(fractions x: Double, _ y: Double) {
            guard (0...1).contains(x), (0...1).contains(y) else { return nil }
            self.init(
                x: UInt16((x * Double(Self.limit)).rounded()), y: UInt16((y * Double(Self.limit)).rounded()))
        }
    }

    /// Identifies the viewer, among those who point at the same pictures.
    public var viewer: UInt32
    /// The viewer's name; at most 256 bytes of UTF-8 are sent.
    public var name: String
    /// Where it points; nil if it no longer does.
    public var place: Place?
    /// The places of its pen in order, and nil where another line begins; at most 255 are sent.
    public var path: [Place?]

    /// Creates a report with these values.
    public init(viewer: UInt32, name: String, place: Place?, path: [Place?] = []) {
        self.viewer = viewer
        self.name = name
        self.place = place
        self.path = path
    }
}
