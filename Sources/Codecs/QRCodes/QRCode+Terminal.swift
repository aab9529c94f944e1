extension QRCode {
    /// The width in modules of the light margin that readers need (ISO/IEC 18004 section 9.1).
    public static let quietZone = 4

    /// The number of terminal columns that ``terminalText(isColored:)`` takes.
    public var columns: Int { side + 2 * Self.quietZone }

    /// The code drawn with Unicode half blocks. Each line of text shows two rows of modules and ends with a line feed.
    ///
    /// The blocks are the light modules, so the code is right on a terminal that shows light text on a dark background.
    /// With `isColored`, escape sequences (ECMA-48 SGR, 256 colours) set these colours on any terminal, because some
    /// readers don't recognize an inverted code.
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
