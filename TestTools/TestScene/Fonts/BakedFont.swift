/// A font with antialiased letters, as on a desktop, kept in the program: the same on every machine, whatever fonts it
/// has.
struct BakedFont: Sendable {
    /// One letter's picture, and its position.
    struct Glyph: Sendable {
        let width: Int
        let height: Int
        /// The distance from the pen to the left column.
        let left: Int
        /// The distance from the base line up to the top row.
        let top: Int
        /// The distance from this pen position to the next.
        let advance: Int
        /// How much of each pixel is ink, 0 to 15, row by row.
        let cover: [UInt8]
    }

    /// The distance from the top of a line to its base line.
    static let ascent = 15
    /// The distance from one line to the next.
    static let lineHeight = 22

    /// The glyphs of ASCII 32 to 126.
    private let glyphs: [Glyph]

    /// Decodes glyphs from text: width, height, left, top (these two plus 8) and advance as digits of base 32, then a
    /// hexadecimal digit for each pixel.
    init(_ text: String) {
        let digits = text.utf8.map { Int($0) - ($0 >= 97 ? 87 : 48) }
        var glyphs: [Glyph] = []
        var index = 0
        while index + 5 <= digits.count {
            let (width, height) = (digits[index], digits[index + 1])
            let end = min(digits.count, index + 5 + width * height)
            glyphs.append(
                Glyph(
                    width: width, height: height, left: digits[index + 2] - 8, top: digits[index + 3] - 8,
                    advance: digits[index + 4], cover: digits[index + 5..<end].map { UInt8(clamping: $0) }))
            index = end
        }
        self.glyphs = glyphs
    }

    /// The width of `text` in pixels.
    func width(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + (glyph($1)?.advance ?? 0) }
    }

    /// Draws `text` with the top of its line at `y`, clipped to the picture.
    func draw(_ text: some StringProtocol, x: Int, y: Int, _ color: SceneColor, on canvas: inout SceneCanvas) {
        var pen = x
        for character in text {
            guard let glyph = glyph(character) else { continue }
            for row in 0..<glyph.height {
                for column in 0..<glyph.width {
                    let cover = glyph.cover[row * glyph.width + column]
                    guard cover > 0 else { continue }
                    canvas.mix(
                        x: pen + glyph.left + column, y: y + Self.ascent - glyph.top + row, color, Int(cover), of: 15)
                }
            }
            pen += glyph.advance
        }
    }

    private func glyph(_ character: Character) -> Glyph? {
        guard let code = character.asciiValue, code >= 32, Int(code) - 32 < glyphs.count else { return nil }
        return glyphs[Int(code) - 32]
    }
}
