/// A counter in the top left corner of a picture, for programs to read.
///
/// It has 16 bits, the highest first, as white (1) and black cells of 16x16 pixels, and the same inverted below.
public struct SceneCounter: Sendable {
    /// A cell's width and height in pixels.
    public static let cell = 16
    /// The number of bits; after 65535 the counter begins again.
    public static let bits = 16
    /// The area of the counter.
    public static let area = SceneRectangle(0, 0, bits * cell, 2 * cell)

    static func paint<Painter: ScenePainter>(_ value: Int, with painter: inout Painter) {
        for bit in 0..<bits {
            let isOne = value >> (bits - 1 - bit) & 1 == 1
            painter.fill(SceneRectangle(bit * cell, 0, cell, cell), isOne ? .white : .black)
            painter.fill(SceneRectangle(bit * cell, cell, cell, cell), isOne ? .black : .white)
        }
    }

    /// Reads the value from a picture of the scene's own size; returns nil if none is clearly visible.
    public static func value(in picture: ScenePicture) -> Int? {
        var value = 0
        for bit in 0..<bits {
            let middle = SceneRectangle(bit * cell, 0, cell, cell).inset(4, 4)
            var below = middle
            below.y += cell
            guard let above = picture.meanColor(of: middle), let under = picture.meanColor(of: below) else {
                return nil
            }
            let difference = Int(above.green) - Int(under.green)
            guard abs(difference) >= 96 else { return nil }
            value = value << 1 | (difference > 0 ? 1 : 0)
        }
        return value
    }
}
