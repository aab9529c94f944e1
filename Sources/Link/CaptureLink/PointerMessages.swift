public import MediaTypes

/// The pointer's image: at most 96 pixels a side, so that it fits into a control message.
public struct PointerImage: Hashable, Sendable {
    /// The longest side that can be sent.
    public static let longestSide = 96

    /// The width and height; 0 by 0 for a pointer that can't be seen.
    public let size: PictureSize
    /// The hot spot: the pixel that points, counted from the top left corner.
    public let hotX: Int
    public let hotY: Int
    /// The pixels with premultiplied alpha, row by row: alpha in the highest byte, then red, green, blue.
    public let pixels: [UInt32]

    /// Creates an image; nil if there are not as many pixels as `size` says, or a side is longer than `longestSide`.
    public init?(size: PictureSize, hotX: Int, hotY: Int, pixels: [UInt32]) {
        let sides = 0...Self.longestSide
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
    /// The hot spot, in pixels of the picture from the top left corner; it may lie outside.
    public var x: Int
    public var y: Int
    /// Whether the pointer is on what is captured at all.
    public var isVisible: Bool

    /// A position.
    public init(x: Int, y: Int, isVisible: Bool) {
        self.x = x
        self.y = y
        self.isVisible = isVisible
    }
}

/// How the pointer gets to viewers.
public enum PointerMode: UInt8, Hashable, Sendable, CaseIterable {
    /// In messages of its own, from which the viewer draws it.
    case apart = 0
    /// Drawn into the pictures.
    case drawn = 1
}

/// Whether the sharer is sharing now.
public enum SharingState: UInt8, Hashable, Sendable, CaseIterable {
    /// Pictures are sent when something changes.
    case live = 0
    /// The sharer has paused.
    case paused = 1
    /// Paused because the screen is locked.
    case locked = 2
    /// What is shared, a window or a monitor, is not on the screen just now.
    case windowHidden = 3
}
