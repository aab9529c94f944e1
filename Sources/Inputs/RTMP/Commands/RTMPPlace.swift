import ByteCoding

/// What a client wants to publish into, and its proof that it may. The application, in the URL, and the stream key
/// name it together:
///
/// | URL | stream key |
/// | --- | --- |
/// | `rtmp://HOST/live` | `ROOM?token=TOKEN`, `ROOM,TOKEN`, `ROOM/TRACK?token=TOKEN` |
/// | `rtmp://HOST/ROOM` | `TRACK?token=TOKEN`, `?token=TOKEN` |
public struct RTMPPlace: Hashable, Sendable {
    /// Nil for the host's first room.
    public var room: String?
    /// Nil for the room's first track.
    public var track: String?
    /// The token; empty if there is none. It is never written to a log.
    public var token: String
    /// What follows the token and a comma: the room's password. Empty if there is none.
    public var password: String
}

extension RTMPPlace {
    /// Reads an application and a stream key; nil if they name no place.
    init?(application: String, key: String) {
        guard application.utf8.count <= RTMPLimits.name, key.utf8.count <= RTMPLimits.name else { return nil }
        let (place, secret) = Self.split(application)
        let (end, ownSecret) = Self.split(key)
        var parts = (place.split(separator: "/") + end.split(separator: "/"))[...]
        if parts.first == "live" { parts.removeFirst() }
        guard parts.count <= 2 else { return nil }
        var names: [String] = []
        for part in parts {
            guard let name = PercentCoding.decode(part) else { return nil }
            names.append(name)
        }
        room = names.first
        track = names.count > 1 ? names[1] : nil
        let secrets = (ownSecret ?? secret ?? "").split(
            separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard let token = PercentCoding.decode(secrets.first ?? ""),
            let password = PercentCoding.decode(secrets.count > 1 ? secrets[1] : "")
        else { return nil }
        self.token = token
        self.password = password
    }

    /// The names in a text, and the secret behind `?token=` or the first comma; nil if it has none.
    private static func split(_ text: String) -> (names: Substring, secret: Substring?) {
        let path = text.prefix { $0 != "?" && $0 != "," }
        let rest = text.dropFirst(path.count)
        if rest.first == "," { return (path, rest.dropFirst()) }
        let token = rest.dropFirst().split(separator: "&").first { $0.hasPrefix("token=") }
        return (path, token?.dropFirst("token=".count))
    }
}
