/// How packets reach a client (RFC 2326 section 12.39).
public enum RTSPTransport: Hashable, Sendable {
    /// Over the connection of the requests, on these two channels.
    case interleaved(rtp: UInt8, rtcp: UInt8)
    /// Over UDP, to these two ports at the client's own address.
    case udp(rtp: UInt16, rtcp: UInt16)

    /// Whether packets go over the connection of the requests.
    public var isInterleaved: Bool { if case .interleaved = self { true } else { false } }

    /// The lowest port of a client that packets are sent to: those below belong to the system's services.
    private static let lowestPort: UInt16 = 1024

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
            guard let (rtp, rtcp) = pair(values["client_port"] ?? "", UInt16.self),
                min(rtp, rtcp) >= lowestPort
            else { return nil }
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
