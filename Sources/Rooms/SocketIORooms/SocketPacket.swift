/// One packet of socket.io, as carried in an Engine.IO message (socket.io protocol 4 and 5).
///
///     2       12      ["join","desk"]
///     kind    id      JSON
///
/// A packet may have `/namespace,` between the digit and the id. These rooms use the namespace `/`, which isn't
/// written.
public struct SocketPacket: Sendable, Equatable {
    /// The packet types of socket.io; the raw value is the digit.
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

    /// The packet's type.
    public let kind: Kind
    /// The namespace, with its slash.
    public let namespace: String
    /// The id of an event whose sender wants an acknowledgement, or of the acknowledgement itself.
    public let acknowledgement: UInt64?
    /// The data as it was received; empty if there is none.
    public let json: String

    /// Creates a packet of the type `kind`. `json` is its data, which isn't checked.
    public init(_ kind: Kind, namespace: String = "/", acknowledgement: UInt64? = nil, json: String = "") {
        self.kind = kind
        self.namespace = namespace
        self.acknowledgement = acknowledgement
        self.json = json
    }

    /// Parses a packet, but not its JSON; nil if `text` isn't one.
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
            // Clients of version 3 append their query to the namespace.
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

    /// The packet as text, for an engine.io message.
    public var encoded: String {
        let place = namespace == "/" ? "" : "\(namespace),"
        return "\(kind.rawValue)\(place)\(acknowledgement.map { "\($0)" } ?? "")\(json)"
    }

    /// The acknowledgement of an event: an empty list.
    public static func acknowledging(_ id: UInt64) -> SocketPacket {
        SocketPacket(.ack, acknowledgement: id, json: "[]")
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Reads at least one decimal digit and at most 18, which always fit 64 bits.
    private static func number(_ rest: inout Substring.UTF8View.SubSequence) -> UInt64? {
        let digits = rest.prefix { isDigit($0) }
        guard digits.count <= 18, let number = UInt64(String(Substring(digits))) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }
}
