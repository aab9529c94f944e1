/// The version of Engine.IO that a client speaks: 3 with socket.io 1 and 2, 4 with socket.io 3 and 4.
public enum EngineVersion: Sendable, Equatable {
    case three
    case four

    /// Creates a version from the request's `EIO` parameter. Like the original server, treats anything but 4 as version
    /// 3.
    public init(parameter: String?) {
        self = parameter == "4" ? .four : .three
    }
}

/// One packet of Engine.IO: a digit for its kind, followed by text.
///
///     "4" "2[\"join\",\"desk\"]"        a message, whose text is a socket.io packet
///     "2" "probe"                      a ping over a WebSocket, from a polling client that wants to upgrade
public struct EnginePacket: Sendable, Equatable {
    /// The packet types of engine.io; the raw value is the digit.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case open = 0
        case close = 1
        case ping = 2
        case pong = 3
        case message = 4
        case upgrade = 5
        case noop = 6
    }

    /// The packet's type.
    public let kind: Kind
    /// The data after the type; may be empty.
    public let text: String

    /// Creates a packet of the type `kind` with `text` after it.
    public init(_ kind: Kind, _ text: String = "") {
        self.kind = kind
        self.text = text
    }

    /// Parses a packet from a WebSocket frame; nil if it isn't one.
    public init?(parsing text: String) {
        guard let first = text.utf8.first, let kind = Kind(digit: first) else { return nil }
        // Drops a byte, not a character: a combining mark after the digit would form one character with it.
        self.init(kind, String(Substring(text.utf8.dropFirst())))
    }

    /// The packet as sent in a WebSocket frame.
    public var encoded: String { "\(kind.rawValue)\(text)" }
}

extension EnginePacket.Kind {
    /// Creates a kind from its digit in ASCII.
    init?(digit: UInt8) {
        guard digit >= UInt8(ascii: "0") else { return nil }
        self.init(rawValue: digit - UInt8(ascii: "0"))
    }
}
