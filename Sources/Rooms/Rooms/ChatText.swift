/// The text of a chat message. It is shown to others as plain text.
public enum ChatText {
    /// The longest text, in characters.
    public static let limit = 500

    /// Returns `text` without control characters except line feeds, without other invisible characters and those that
    /// change the text direction, and without white space at either end. Tabs become spaces. The result is empty if
    /// nothing visible is left, and nil if it would be longer than the limit.
    public static func clean(_ text: String) -> String? {
        // A character can have any number of combining marks, so both characters and scalars are limited.
        guard text.utf8.count <= limit * 64 else { return nil }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\t" {
                shown.append(" ")
            } else if scalar == "\n" || MemberName.isShown(scalar) {
                shown.append(scalar)
            }
        }
        let ends = { (character: Character) in character.isWhitespace }
        var rest = String(shown).drop(while: ends)
        while let last = rest.last, ends(last) { rest.removeLast() }
        guard rest.unicodeScalars.count <= limit * 4, rest.count <= limit else { return nil }
        return rest.unicodeScalars.contains(where: MemberName.isVisible) ? String(rest) : ""
    }
}
