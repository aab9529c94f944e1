/// Text that a stranger wrote, made fit for a terminal and a log line.
enum PrintableText {
    /// The longest that is kept, in Unicode scalars.
    static let mostCharacters = 200

    /// `text` with everything that steers a terminal or turns the direction of writing replaced by a space, and cut.
    static func harmless(_ text: String) -> String { plain(text.unicodeScalars.prefix(mostCharacters)) }

    /// The same, uncut: so that what a person has read, and types, is found again.
    static func plain(_ text: some Sequence<Unicode.Scalar>) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text {
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
