extension QRCode {
    /// Modules of the light margin that readers need (ISO/IEC 18004 section 9.1).
    public static let quietZone = 4

    /// Columns that ``terminalText(isColored:)`` takes.
    public var columns: Int { side + 2 * Self.quietZone }

    /// The code in half blocks of Unicode, two rows of modules in a line of text, each line ended by a line feed.
    ///
    /// Blocks are the light modules: as a terminal shows text, light on dark. With `isColored`, colours are set (ECMA-48
    /// SGR, of 256), so that it is so on any terminal: some readers take no code that is light on dark.
    public func terminalText(isColored: Bool) -> String {
        let range = -Self.quietZone..<side + Self.quietZone
        var text = ""
        for y in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if isColored { text += "\u{1B}[38;5;231;48;5;16m" }
            for x in range {
                let isUpperLight = !isDark(x, y)
                let isLowerLight = y + 1 < range.upperBound && !isDark(x, y + 1)
                switch (isUpperLight, isLowerLight) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += isColored ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }
}
