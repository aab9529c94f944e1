import MediaTypes

/// How a sender has rotated or mirrored a picture before writing it to a buffer (enum spa_meta_videotransform_value),
/// as wlroots compositors do with a rotated monitor. Here, the picture before that is the upright one.
///
///      0: as it is      1: rotated by 90 degrees counterclockwise      2: by 180      3: by 270
///      4 to 7: mirrored, left to right, and then rotated like 0 to 3
struct PictureTransform: Equatable {
    /// Not rotated and not mirrored.
    static let none = PictureTransform(turns: 0, isMirrored: false)

    /// The number of quarter turns, counterclockwise.
    private let turns: UInt32
    private let isMirrored: Bool

    private init(turns: UInt32, isMirrored: Bool) {
        self.turns = turns
        self.isMirrored = isMirrored
    }

    /// The transform with this number.
    init(_ number: UInt32) throws(BufferFault) {
        guard number < 8 else { throw .unknownTransform(number) }
        self.init(turns: number & 3, isMirrored: number & 4 != 0)
    }

    /// The step in the buffer, in pixels, from an upright pixel to its neighbour on the right.
    var right: (x: Int, y: Int) {
        let step =
            switch turns {
            case 0: (x: 1, y: 0)
            case 1: (x: 0, y: -1)
            case 2: (x: -1, y: 0)
            default: (x: 0, y: 1)
            }
        return isMirrored ? (-step.x, -step.y) : step
    }

    /// The step in the buffer, in pixels, from an upright pixel to the one below.
    var down: (x: Int, y: Int) {
        switch turns {
        case 0: (0, 1)
        case 1: (1, 0)
        case 2: (0, -1)
        default: (-1, 0)
        }
    }

    /// The place in the buffer of the upright top left pixel of `part`, which is in pixels of the buffer.
    func topLeft(of part: PixelRectangle) -> (x: Int, y: Int) {
        // One of the two steps is along each axis.
        let isLeftFirst = right.x + down.x > 0
        let isTopFirst = right.y + down.y > 0
        return (isLeftFirst ? part.x : part.x + part.width - 1, isTopFirst ? part.y : part.y + part.height - 1)
    }

    /// Where `part` of a buffer's picture of `size` lies in the upright picture. It may lie anywhere.
    func upright(_ part: PixelRectangle, in size: PictureSize) -> PixelRectangle {
        let isOnSide = right.x == 0
        var result =
            isOnSide ? PixelRectangle(x: part.y, y: part.x, width: part.height, height: part.width) : part
        let (width, height) = isOnSide ? (size.height, size.width) : (size.width, size.height)
        if right.x + right.y < 0 { result.x = width - result.x - result.width }
        if down.x + down.y < 0 { result.y = height - result.y - result.height }
        return result
    }
}
