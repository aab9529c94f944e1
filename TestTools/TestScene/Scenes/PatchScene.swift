/// Patches of known colours, and a counter that goes up by one at each tick. The counter is shown as a barcode, which
/// programs can read back from a picture of any scale, and in digits for people.
///
///     +------------------------------------------+
///     |  red   green  blue  yellow  cyan  magenta|   two rows of six patches
///     | white  black  grey  orange  skin  navy   |
///     | ▉▉▉   ▉▉▉   ▉▉▉   ▉▉▉   (the counter's   |   16 cells, the highest bit first, white is 1
///     |    ▉▉▉   ▉▉▉   ▉▉▉   ▉▉▉     bits)       |   the same inverted: a torn picture shows
///     | 00042                ▉                   |   digits, and a marker that goes from left to right
///     +------------------------------------------+
///
/// All positions are fractions of the size. From 480x320 on, a patch has at least 64x64 pixels and a cell 16x16.
public struct PatchScene: Scene {
    /// A patch: its name and its colour.
    public struct Patch: Hashable, Sendable {
        /// The name of the patch.
        public let name: String
        /// The colour of the whole patch.
        public let color: SceneColor
    }

    /// All patches, row by row.
    public static let patches = [
        Patch(name: "red", color: SceneColor(255, 0, 0)),
        Patch(name: "green", color: SceneColor(0, 255, 0)),
        Patch(name: "blue", color: SceneColor(0, 0, 255)),
        Patch(name: "yellow", color: SceneColor(255, 255, 0)),
        Patch(name: "cyan", color: SceneColor(0, 255, 255)),
        Patch(name: "magenta", color: SceneColor(255, 0, 255)),
        Patch(name: "white", color: .white),
        Patch(name: "black", color: .black),
        Patch(name: "grey", color: SceneColor(128, 128, 128)),
        Patch(name: "orange", color: SceneColor(255, 140, 0)),
        Patch(name: "skin", color: SceneColor(224, 172, 135)),
        Patch(name: "navy", color: SceneColor(16, 24, 96)),
    ]
    /// The colour behind the patches.
    public static let background = SceneColor(52, 58, 70)
    /// The number of the counter's bits; it starts again at 0 after 65535.
    public static let counterBits = 16

    private static let columns = 6

    public let width: Int
    public let height: Int

    /// Creates the scene for a screen, or a picture of one, of this size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The area of patch `index` of `patches`.
    public func rectangle(ofPatch index: Int) -> SceneRectangle {
        let columnWidth = (width - 2 * margin) / Self.columns
        let rowHeight = height * 9 / 32
        let cell = SceneRectangle(
            margin + index % Self.columns * columnWidth, height / 24 + index / Self.columns * rowHeight, columnWidth,
            rowHeight)
        return cell.inset(columnWidth / 16, rowHeight / 16)
    }

    /// The cells of a bit of the counter, where 0 is the highest bit: the upper cell shows it, the lower one its
    /// inverse.
    public func cells(ofBit index: Int) -> (upper: SceneRectangle, lower: SceneRectangle) {
        let left = margin + (width - 2 * margin) * index / Self.counterBits
        let right = margin + (width - 2 * margin) * (index + 1) / Self.counterBits
        let top = height * 21 / 32
        let row = height / 12
        return (
            SceneRectangle(left, top, right - left, row), SceneRectangle(left, top + row, right - left, row)
        )
    }

    /// The part that changes from tick to tick.
    public var movingPart: SceneRectangle {
        let top = cells(ofBit: 0).upper.y
        return SceneRectangle(margin, top, width - 2 * margin, height - top - height / 32)
    }

    /// Reads the counter from a picture of this scene at any scale; returns nil if the picture doesn't show one
    /// clearly, or if the two rows of the barcode don't agree.
    public static func counterValue(in picture: ScenePicture) -> Int? {
        let scene = PatchScene(width: picture.width, height: picture.height)
        var value = 0
        for bit in 0..<counterBits {
            let (upper, lower) = scene.cells(ofBit: bit)
            guard let above = picture.meanColor(of: middle(upper)), let below = picture.meanColor(of: middle(lower))
            else { return nil }
            let difference = Int(above.green) - Int(below.green)
            guard abs(difference) >= 96 else { return nil }
            value = value << 1 | (difference > 0 ? 1 : 0)
        }
        return value
    }

    /// Reads the counter from an RGB or RGBA picture; see `counterValue(in:)`.
    public static func counterValue(
        inRGB bytes: [UInt8], width: Int, height: Int, bytesPerPixel: Int = 3, rowBytes: Int? = nil
    ) -> Int? {
        ScenePicture(bytes: bytes, width: width, height: height, bytesPerPixel: bytesPerPixel, rowBytes: rowBytes)
            .flatMap(counterValue(in:))
    }

    /// The colour in the middle of patch `index`, in a picture of any scale.
    public static func color(ofPatch index: Int, in picture: ScenePicture) -> SceneColor? {
        let scene = PatchScene(width: picture.width, height: picture.height)
        return picture.meanColor(of: middle(scene.rectangle(ofPatch: index)))
    }

    public func paint<Painter: ScenePainter>(
        tick: Int, after previous: Int?, with painter: inout Painter
    ) -> [SceneRectangle] {
        if previous == tick { return [] }
        if previous == nil {
            painter.fill(SceneRectangle(0, 0, width, height), Self.background)
            for (index, patch) in Self.patches.enumerated() { painter.fill(rectangle(ofPatch: index), patch.color) }
        }
        let counter = tick % (1 << Self.counterBits)
        for bit in 0..<Self.counterBits {
            let isOne = counter >> (Self.counterBits - 1 - bit) & 1 == 1
            let (upper, lower) = cells(ofBit: bit)
            painter.fill(upper, isOne ? .white : .black)
            painter.fill(lower, isOne ? .black : .white)
        }
        paintDigits(counter, with: &painter)
        return previous == nil ? [SceneRectangle(0, 0, width, height)] : [movingPart]
    }

    private func paintDigits<Painter: ScenePainter>(_ counter: Int, with painter: inout Painter) {
        let top = cells(ofBit: 0).lower.bottom
        let line = SceneRectangle(margin, top, width - 2 * margin, movingPart.bottom - top)
        painter.fill(line, Self.background)
        let digitHeight = line.height * 3 / 4
        let digits = SevenSegments(
            height: digitHeight, x: line.x, y: line.y + (line.height - digitHeight) / 2)
        let text = String(counter)
        digits.paint(String(repeating: "0", count: max(0, 5 - text.count)) + text, .white, with: &painter)

        let track = line.width - digits.width(ofDigits: 5) - 2 * digitHeight
        let step = max(1, track / 60)
        painter.fill(
            SceneRectangle(
                line.right - track - digitHeight + counter * step % max(1, track),
                line.y + (line.height - digitHeight) / 2,
                digitHeight, digitHeight),
            SceneColor(250, 200, 60))
    }

    private var margin: Int { width / 32 }

    /// The middle third each way, which is clear of what scaling and coding do to edges.
    private static func middle(_ rectangle: SceneRectangle) -> SceneRectangle {
        rectangle.inset(rectangle.width / 3, rectangle.height / 3)
    }
}
