import CommandLine

/// A track as options name it: `NAME` in the first room, or `ROOM/NAME`.
struct TrackPlace: Hashable, Sendable, CustomStringConvertible {
    /// Nil for the first room.
    let room: String?
    let name: String

    static let mistake =
        "not a track name; use up to 64 letters, digits, '-', '_' and '.', but no '.' at the start; a room's name and "
        + "'/' may come before it"

    /// Nil if the text has another form.
    init?(_ text: Substring) {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard words.count <= 2, words.allSatisfy(Self.isName), let name = words.last else { return nil }
        room = words.count == 2 ? words.first : nil
        self.name = name
    }

    var description: String { (room.map { "\($0)/" } ?? "") + name }

    /// Rooms and tracks have the same rules for names.
    private static func isName(_ text: String) -> Bool {
        (try? ValueFormat<String>.roomName.read(text, option: "")) != nil
    }

    /// Splits `URL,track=NAME` into the URL and the name, which is nil if there is none.
    static func split(_ text: String) -> (url: String, track: String?) {
        let mark = ",track="
        var index = text.endIndex
        while index > text.startIndex {
            index = text.index(before: index)
            if text[index...].hasPrefix(mark) {
                return (String(text[..<index]), String(text[index...].dropFirst(mark.count)))
            }
        }
        return (text, nil)
    }
}
