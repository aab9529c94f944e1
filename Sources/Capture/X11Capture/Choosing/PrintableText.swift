/// Makes text from untrusted sources safe for a terminal and a log line.
enum PrintableText {
    /// The most Unicode scalars that are kept.
    static let maxCharacters = 200

    /// Returns `text` with everything that controls a terminal or the writing direction replaced by a space, truncated
    /// to `maxCharacters`.
    static func harmless(_ text: String) -> String { plain(text.unicodeScalars.prefix(maxCharacters)) }

    /// Returns `text` with these characters replaced, but not truncated, so that what a person has read and types in is
    /// found again.
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

    /// Decodes ISO Latin 1, the encoding of properties of type STRING (ICCCM 2.7.1).
    static func latin1(_ bytes: some Sequence<UInt8>) -> String {
        var result = String.UnicodeScalarView()
        for byte in bytes { result.append(Unicode.Scalar(byte)) }
        return String(result)
    }
}
