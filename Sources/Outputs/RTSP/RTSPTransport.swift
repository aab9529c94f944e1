/// How packets reach a client (RFC 2326 section 12.39).
public enum RTSPTransport: Hashable, Sendable {
    /// Over the connection of the requests, on these two channels.
    case interleaved(rtp: UInt8, rtcp: UInt8)
    /// Over UDP, to these two ports at the client's own address.
    case udp(rtp: UInt16, rtcp: UInt16)

    /// Whether packets go over the connection of the requests.
    public var isInterleaved: Bool { if case .interleaved = self { true } else { false } }

    /// Whether a port of the client is the same as one of another stream.
    func sharesPorts(with other: RTSPTransport) -> Bool {
        guard case .udp(let rtp, let rtcp) = self, case .udp(let otherRTP, let otherRTCP) = other else { return false }
        return [otherRTP, otherRTCP].contains { $0 == rtp || $0 == rtcp }
    }

    /// The lowest port of a client that packets are sent to: those below belong to the system's services.
    private static let lowestPort: UInt16 = 1024

    /// The first one of a Transport header that this server can use; nil if there is none. Multicast isn't, and neither
    /// is a `destination` other than the client's own address, which is ignored: nobody may direct a stream elsewhere.
    ///
    /// - Parameter isRecorded: whether the client sends the stream.
    public init?(choosingFrom header: String, isRecorded: Bool = false) {
        for choice in header.split(separator: ",") {
            if let found = Self.parse(choice, modes: isRecorded ? ["RECORD", "RECEIVE"] : ["PLAY"]) {
                self = found
                return
            }
        }
        return nil
    }

    /// - Parameter modes: the modes that the choice may have; it may also have none.
    private static func parse(_ choice: Substring, modes: [String]) -> RTSPTransport? {
        var parts = choice.split(separator: ";").map(\.trimmed)[...]
        guard let kind = parts.popFirst()?.uppercased() else { return nil }
        var values: [String: String] = [:]
        for part in parts {
            let name = part.prefix { $0 != "=" }
            values[name.lowercased()] = String(part.dropFirst(name.count + 1))
        }
        let mode = values["mode"].map { $0.filter { $0 != "\"" }.uppercased() }
        guard values["multicast"] == nil, mode.map({ modes.contains($0) }) ?? true else { return nil }
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
