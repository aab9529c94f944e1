/// One packet of socket.io, as an Engine.IO message carries it (socket.io protocol 4 and 5).
///
///     2            12      ["join","desk"]
///     what it is   an id   JSON
///
/// Between the digit and the id a packet may have `/namespace,`; these rooms are in the one called `/`, which isn't written.
public struct SocketPacket: Sendable, Equatable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case connect = 0
        case disconnect = 1
        case event = 2
        case ack = 3
        case error = 4
        /// Announces attachments, which follow in binary packets.
        case binaryEvent = 5
        case binaryAck = 6
    }

    public let kind: Kind
    public let namespace: String
    /// What an event's sender wants to have back, or what an ack gives back.
    public let acknowledgement: UInt64?
    /// As it stands; empty where there is none.
    public let json: String

    public init(_ kind: Kind, namespace: String = "/", acknowledgement: UInt64? = nil, json: String = "") {
        self.kind = kind
        self.namespace = namespace
        self.acknowledgement = acknowledgement
        self.json = json
    }

    /// Reads a packet, but not its JSON; nil where `text` is none.
    public init?(parsing text: String) {
        var rest = text.utf8[...]
        guard let first = rest.popFirst(), first >= UInt8(ascii: "0"), let kind = Kind(rawValue: first - 0x30) else {
            return nil
        }
        if kind == .binaryEvent || kind == .binaryAck {
            guard SocketPacket.number(&rest) != nil, rest.popFirst() == UInt8(ascii: "-") else { return nil }
        }
        var namespace = "/"
        if rest.first == UInt8(ascii: "/") {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            // Clients of version 3 put their query behind it.
            namespace = String(Substring(rest[..<end].prefix { $0 != UInt8(ascii: "?") }))
            rest = rest[end...].dropFirst()
        }
        var acknowledgement: UInt64?
        if kind != .connect, kind != .error, let digit = rest.first, SocketPacket.isDigit(digit) {
            guard let number = SocketPacket.number(&rest) else { return nil }
            acknowledgement = number
        }
        self.init(kind, namespace: namespace, acknowledgement: acknowledgement, json: String(Substring(rest)))
    }

    public var encoded: String {
        let place = namespace == "/" ? "" : "\(namespace),"
        return "\(kind.rawValue)\(place)\(acknowledgement.map { "\($0)" } ?? "")\(json)"
    }

    /// What answers an event that wants to be acknowledged: an empty list.
    public static func acknowledging(_ id: UInt64) -> SocketPacket {
        SocketPacket(.ack, acknowledgement: id, json: "[]")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Takes decimal digits, at least one and no more than a number of 64 bits has.
    private static func number(_ rest: inout Substring.UTF8View.SubSequence) -> UInt64? {
        let digits = rest.prefix { isDigit($0) }
        guard digits.count <= 18, let number = UInt64(String(Substring(digits))) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }
}
