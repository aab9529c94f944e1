/// A picture that a scene keeps, and draws parts of again and again. A painter may keep a copy where drawing is cheap;
/// it knows the sheet by its identity.
public final class SceneSheet: Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The pixels, row by row from the top: red in bits 16 to 23, green in 8 to 15, blue in 0 to 7.
    public let pixels: [UInt32]

    init(_ canvas: SceneCanvas) {
        width = canvas.width
        height = canvas.height
        pixels = canvas.pixels
    }

    /// The whole sheet.
    var bounds: SceneRectangle { SceneRectangle(0, 0, width, height) }
}

/// The canvas that a sheet is drawn on before it is complete.
struct SceneCanvas: ScenePainter {
    let width: Int
    let height: Int
    private(set) var pixels: [UInt32]

    /// Creates a canvas of one colour.
    init(width: Int, height: Int, _ color: SceneColor) {
        self.width = max(0, width)
        self.height = max(0, height)
        pixels = [UInt32](repeating: color.packed, count: self.width * self.height)
    }

    /// Creates a canvas whose pixels `make` returns for each column and row.
    init(width: Int, height: Int, _ make: (_ x: Int, _ y: Int) -> UInt32) {
        self.width = max(0, width)
        self.height = max(0, height)
        pixels = []
        pixels.reserveCapacity(self.width * self.height)
        for y in 0..<self.height {
            for x in 0..<self.width { pixels.append(make(x, y)) }
        }
    }

    mutating func fill(_ rectangle: SceneRectangle, _ color: SceneColor) {
        let inside = rectangle.intersection(SceneRectangle(0, 0, width, height))
        for y in inside.y..<inside.bottom {
            for x in inside.x..<inside.right { pixels[y * width + x] = color.packed }
        }
    }

    mutating func draw(_ sheet: SceneSheet, _ part: SceneRectangle, x: Int, y: Int) {
        let source = part.intersection(sheet.bounds)
        let target = SceneRectangle(x, y, source.width, source.height)
            .intersection(SceneRectangle(0, 0, width, height))
        for row in target.y..<target.bottom {
            let from = (source.y + row - y) * sheet.width + source.x + target.x - x
            for column in 0..<target.width {
                pixels[row * width + target.x + column] = sheet.pixels[from + column]
            }
        }
    }

    /// Blends `part` of `whole` of a colour over a pixel.
    mutating func mix(x: Int, y: Int, _ color: SceneColor, _ part: Int, of whole: Int) {
        guard x >= 0, x < width, y >= 0, y < height else { return }
        let below = SceneColor(packed: pixels[y * width + x])
        pixels[y * width + x] = below.mixed(with: color, part, of: whole).packed
    }
}

extension SceneColor {
    /// The colour as in a sheet's pixels.
    var packed: UInt32 { UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue) }

    init(packed: UInt32) {
        self.init(
            UInt8(truncatingIfNeeded: packed >> 16), UInt8(truncatingIfNeeded: packed >> 8),
            UInt8(truncatingIfNeeded: packed))
    }
}
