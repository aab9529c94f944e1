/// What a URL names on this server: a room, and perhaps one of its tracks.
public struct RTSPPlace: Hashable, Sendable {
    /// Nil for the host's first room.
    public var room: String?
    /// Nil for the room's first track.
    public var track: String?
}

/// A URL of this server.
struct RTSPURL: Hashable {
    var place: RTSPPlace
    /// The stream that it names; nil if it names none.
    var media: RTSPMedia?
    /// The value of `audio` in its query; nil without one.
    var audio: String?

    /// Reads `rtsp://HOST[:PORT][/ROOM[/TRACK]][?audio=CODEC]`, with or without a user, and the name of a stream at the
    /// end of the path; nil if it is none of these.
    init?(_ text: String) {
        guard text.utf8.count <= 1024, let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == "rtsp",
            text[colon...].hasPrefix("://")
        else { return nil }
        let rest = text[colon...].dropFirst(3).drop { $0 != "/" && $0 != "?" }.prefix { $0 != "#" }
        let path = rest.prefix { $0 != "?" }
        var names: [String] = []
        for part in path.split(separator: "/") {
            guard let name = Self.decoded(part) else { return nil }
            names.append(name)
        }
        media = names.last.flatMap { RTSPMedia(control: $0) }
        if media != nil { names.removeLast() }
        guard names.count <= 2 else { return nil }
        place = RTSPPlace(room: names.first, track: names.count > 1 ? names[1] : nil)

        var query = rest.dropFirst(path.count).dropFirst()
        // Some players put the name of a stream at the end of the URL, whatever that has.
        if let slash = query.lastIndex(of: "/"), let named = RTSPMedia(control: query[slash...].dropFirst()) {
            media = named
            query = query[..<slash]
        }
        audio = query.split(separator: "&").first { $0.hasPrefix("audio=") }.map { $0.dropFirst(6).lowercased() }
    }

    private static func decoded(_ part: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let text = String(validating: digits, as: UTF8.self),
                let value = UInt8(text, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
