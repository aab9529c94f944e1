/// Digits and colons made of bars, as on an alarm clock: they need no font and can be read at any size.
///
///      -0-
///     5   1
///      -6-
///     4   2
///      -3-
struct SevenSegments {
    /// A digit's height in pixels; it is half as wide.
    let height: Int
    /// The left edge of the first character.
    let x: Int
    /// The top edge of the characters.
    let y: Int

    /// The segments of each digit; bit 0 is the upper bar.
    private static let segments = [0x3F, 0x06, 0x5B, 0x4F, 0x66, 0x6D, 0x7D, 0x07, 0x7F, 0x6F]

    /// The distance from the left edge of a digit to that of the next.
    private var advance: Int { height / 2 + bar * 3 / 2 }
    private var bar: Int { max(1, height / 8) }

    /// The width of a number with this many digits, including the gap after it.
    func width(ofDigits count: Int) -> Int { count * advance }

    /// The width of a text of digits and colons.
    func width(of text: String) -> Int {
        text.reduce(0) { $0 + ($1 == ":" ? bar * 3 : advance) }
    }

    /// Paints a text of digits and colons; everything else leaves a gap.
    func paint<Painter: ScenePainter>(_ text: String, _ color: SceneColor, with painter: inout Painter) {
        var left = x
        for character in text {
            if character == ":" {
                painter.fill(SceneRectangle(left, y + height / 3 - bar / 2, bar, bar), color)
                painter.fill(SceneRectangle(left, y + height * 2 / 3 - bar / 2, bar, bar), color)
                left += bar * 3
                continue
            }
            if let digit = character.wholeNumberValue, Self.segments.indices.contains(digit) {
                let lit = Self.segments[digit]
                for (index, rectangle) in bars(at: left).enumerated() where lit >> index & 1 == 1 {
                    painter.fill(rectangle, color)
                }
            }
            left += advance
        }
    }

    private func bars(at left: Int) -> [SceneRectangle] {
        let width = height / 2
        let half = height / 2
        return [
            SceneRectangle(left, y, width, bar),
            SceneRectangle(left + width - bar, y, bar, half),
            SceneRectangle(left + width - bar, y + half, bar, height - half),
            SceneRectangle(left, y + height - bar, width, bar),
            SceneRectangle(left, y + half, bar, height - half),
            SceneRectangle(left, y, bar, half),
            SceneRectangle(left, y + half - bar / 2, width, bar),
        ]
    }
}
