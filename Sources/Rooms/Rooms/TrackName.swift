/// The name of a track within its room: 1 to 64 letters, digits, `-`, `_` and `.`.
public struct TrackName: Hashable, Sendable, CustomStringConvertible {
    /// The name as text.
    public let text: String
    public var description: String { text }

    /// The name of a room's only track if it was given no other.
    public static let screen = TrackName(known: "screen")

    /// Creates a name, or nil if `text` is not a valid one.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private init(known text: String) {
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The name that a member has chosen for itself. It is shown to others as plain text.
public enum MemberName {
    /// The longest name, in characters.
    public static let limit = 64

    /// Returns `text` without invisible characters and those that change the text direction, without white space at
    /// either end, and cut off at the limit; nil if nothing visible is left, so that no member acts under a name that
    /// others can't see.
    public static func clean(_ text: String) -> String? {
        // A character can have any number of combining marks, so both characters and scalars are limited.
        let scalars = text.unicodeScalars.prefix(limit * 16).filter(isShown).prefix(limit * 4)
        let shown = String(String(String.UnicodeScalarView(scalars)).prefix(limit))
        let ends = { (character: Character) in character.isWhitespace }
        var name = shown.drop(while: ends)
        while let last = name.last, ends(last) { name.removeLast() }
        return name.unicodeScalars.contains(where: isVisible) ? String(name) : nil
    }

    /// Whether a scalar that is shown can be seen by itself: it isn't a joiner, a mark on another character, or blank
    /// like the Hangul fillers and the Braille pattern without dots.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isWhitespace || scalar.value == 0x2800 { return false }
        return properties.generalCategory != .nonspacingMark && properties.generalCategory != .enclosingMark
    }

    /// Whether a scalar is visible, or joins visible ones, and doesn't change the text direction.
    static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Joiners are used in emoji and in the words of many languages.
        case .format: scalar.value == 0x200C || scalar.value == 0x200D
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: true
        }
    }
}
