/// How packets reach a client (RFC 2326 section 12.39).
public enum RTSPTransport: Hashable, Sendable {
    /// Over the connection of the requests, on these two channels.
    case interleaved(rtp: UInt8, rtcp: UInt8)
    /// By UDP, to these two ports at the client's own address.
    case udp(rtp: UInt16, rtcp: UInt16)

    /// The first one of a Transport header that this server can use; nil if there is none. Multicast isn't, and neither
    /// is a `destination` other than the client's own address, which is ignored: nobody may direct a stream elsewhere.
    public init?(choosingFrom header: String) {
        for choice in header.split(separator: ",") {
            if let found = Self.parse(choice) {
                self = found
                return
            }
        }
        return nil
    }

    private static func parse(_ choice: Substring) -> RTSPTransport? {
        var parts = choice.split(separator: ";").map(\.trimmed)[...]
        guard let kind = parts.popFirst()?.uppercased() else { return nil }
        var values: [String: String] = [:]
        for part in parts {
            let name = part.prefix { $0 != "=" }
            values[name.lowercased()] = String(part.dropFirst(name.count + 1))
        }
        let mode = values["mode"].map { $0.filter { $0 != "\"" }.uppercased() }
        guard values["multicast"] == nil, mode == nil || mode == "PLAY" else { return nil }
        switch kind {
        case "RTP/AVP", "RTP/AVP/UDP":
            guard let (rtp, rtcp) = pair(values["client_port"] ?? "", UInt16.self), rtp > 0 else { return nil }
            return .udp(rtp: rtp, rtcp: rtcp)
        case "RTP/AVP/TCP":
            guard let (rtp, rtcp) = pair(values["interleaved"] ?? "0-1", UInt8.self) else { return nil }
            return .interleaved(rtp: rtp, rtcp: rtcp)
        default: return nil
        }
    }

    /// `A-B`, or `A` for A and the next number.
    private static func pair<Number: FixedWidthInteger>(_ text: String, _: Number.Type) -> (Number, Number)? {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(numbers.count), let first = Number(numbers[0]), first < .max else { return nil }
        guard numbers.count == 2 else { return (first, first + 1) }
        guard let second = Number(numbers[1]), second != first else { return nil }
        return (first, second)
    }
}

/// What a URL names on this server: a room, and perhaps one of its tracks.
public struct RTSPPlace: Hashable, Sendable {
    /// Nil for the host's first room.
    public var room: String?
    /// Nil for the room's first track.
    public var track: String?

    /// The name by which the one stream of each place is set up, relative to its URL.
    static let control = "track1"

    /// Reads `rtsp://HOST[:PORT][/ROOM[/TRACK]]`, with or without a user, a query, and the name of the stream at its end;
    /// nil if it is none of these.
    public init?(_ url: String) {
        guard url.utf8.count <= 1024, let colon = url.firstIndex(of: ":"), url[..<colon].lowercased() == "rtsp",
            url[colon...].hasPrefix("://")
        else { return nil }
        let path = url[colon...].dropFirst(3).drop { $0 != "/" }.prefix { $0 != "?" && $0 != "#" }
        var names: [String] = []
        for part in path.split(separator: "/") {
            guard let name = Self.decoded(part) else { return nil }
            names.append(name)
        }
        if names.last == Self.control { names.removeLast() }
        guard names.count <= 2 else { return nil }
        room = names.first
        track = names.count > 1 ? names[1] : nil
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
