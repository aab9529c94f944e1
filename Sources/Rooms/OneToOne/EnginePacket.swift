/// Which Engine.IO a client speaks: 3 with socket.io 1 and 2, 4 with socket.io 3 and 4.
public enum EngineVersion: Sendable, Equatable {
    case three
    case four

    /// By the request's `EIO` parameter. Whatever isn't 4, or isn't there, is 3, as the original server has it.
    public init(parameter: String?) {
        self = parameter == "4" ? .four : .three
    }
}

/// One packet of Engine.IO: a digit that says what it is, and text.
///
///     "4" "2[\"join\",\"desk\"]"        a message, whose text is socket.io's
///     "2" "probe"                      a ping over a WebSocket that a polling client would go over to
public struct EnginePacket: Sendable, Equatable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case open = 0
        case close = 1
        case ping = 2
        case pong = 3
        case message = 4
        case upgrade = 5
        case noop = 6
    }

    public let kind: Kind
    public let text: String

    public init(_ kind: Kind, _ text: String = "") {
        self.kind = kind
        self.text = text
    }

    /// Reads a packet, as a WebSocket's frame has it; nil where it has none.
    public init?(parsing text: String) {
        guard let first = text.utf8.first, let kind = Kind(digit: first) else { return nil }
        // By bytes: a combining mark behind the digit is one character with it.
        self.init(kind, String(Substring(text.utf8.dropFirst())))
    }

    /// The packet as a WebSocket's frame has it.
    public var encoded: String { "\(kind.rawValue)\(text)" }
}

extension EnginePacket.Kind {
    /// By its digit in ASCII.
    init?(digit: UInt8) {
        guard digit >= UInt8(ascii: "0") else { return nil }
        self.init(rawValue: digit - UInt8(ascii: "0"))
    }
}
