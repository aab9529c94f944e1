import ByteCoding

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
            guard let name = PercentCoding.decode(part, allowsControls: true) else { return nil }
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
}
