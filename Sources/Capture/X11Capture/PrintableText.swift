/// Text that a stranger wrote, made fit for a terminal and a log line.
enum PrintableText {
    /// The longest that is kept, in characters.
    static let mostCharacters = 200

    /// `text` with everything that steers a terminal or turns the direction of writing replaced by a space, and cut.
    static func harmless(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            if count == mostCharacters { break }
            count += 1
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                result.append(" ")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// ISO Latin 1, as properties of type STRING are written (ICCCM 2.7.1).
    static func latin1(_ bytes: some Sequence<UInt8>) -> String {
        var result = String.UnicodeScalarView()
        for byte in bytes { result.append(Unicode.Scalar(byte)) }
        return String(result)
    }
}
