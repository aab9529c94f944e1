/// What a track is called in its room: 1 to 64 letters, digits, `-`, `_` and `.`.
public struct TrackName: Hashable, Sendable, CustomStringConvertible {
    public let text: String
    public var description: String { text }

    /// What a room's only track is called where nobody names it.
    public static let screen = TrackName(known: "screen")

    /// Nil where `text` is no such name.
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

/// What a member calls itself. It is shown to others, as text and nothing else.
public enum MemberName {
    /// The longest name, in characters.
    public static let limit = 64

    /// `text` without what can't be seen or turns the direction of what stands around it, without space at its ends, and cut
    /// off at the limit; nil where nothing is left.
    public static func clean(_ text: String) -> String? {
        // A character may have any number of marks on it: both are bounded.
        let scalars = text.unicodeScalars.prefix(limit * 16).filter(isShown).prefix(limit * 4)
        let shown = String(String(String.UnicodeScalarView(scalars)).prefix(limit))
        let ends = { (character: Character) in character.isWhitespace }
        var name = shown.drop(while: ends)
        while let last = name.last, ends(last) { name.removeLast() }
        return name.isEmpty ? nil : String(name)
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        // Joiners are in emoji, and in the words of many languages.
        case .format: scalar.value == 0x200C || scalar.value == 0x200D
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
        default: true
        }
    }
}
