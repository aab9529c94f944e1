import MediaTypes

/// Why bytes are not a stream of messages. Every error ends the connection; offsets count from its first byte.
public enum LinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A byte other than `&` where a header should start.
    case notAMessage(offset: UInt64, found: UInt8)
    /// A unit longer than the limit.
    case unitTooLong(length: UInt64, limit: Int, offset: UInt64)
    /// A unit too short for a start code and one byte.
    case unitTooShort(length: UInt64, offset: UInt64)
    /// A unit that does not begin with `00 00 00 01`.
    case startCodeMissing(offset: UInt64)
    /// A message of another kind that is longer than the limit.
    case controlMessageTooLong(kindCode: UInt8, length: UInt64, limit: Int, offset: UInt64)
    /// A control message whose payload can't be read.
    case malformed(kind: MessageKind, problem: String, offset: UInt64)
    /// The connection ended inside the message that begins at `offset`.
    case endedInsideMessage(offset: UInt64, missing: Int)

    /// Whether the connection begins as one of TLS does: with a handshake's record, or with that of an alert (RFC 8446
    /// section 5.1).
    public var isTLS: Bool {
        if case .notAMessage(offset: 0, found: 0x15...0x16) = self { true } else { false }
    }

    public var description: String {
        switch self {
        case .notAMessage(let offset, let found):
            "not a capture link: byte \(offset) is 0x\([found].hexadecimal()) "
                + "where a message should begin with 0x26 ('&')"
        case .unitTooLong(let length, let limit, let offset):
            "the message at byte \(offset) announces a unit of \(length) bytes; the limit is \(limit)"
        case .unitTooShort(let length, let offset):
            "the message at byte \(offset) announces a unit of \(length) bytes; 5 is the least"
        case .startCodeMissing(let offset):
            "the unit of the message at byte \(offset) does not begin with 00 00 00 01"
        case .controlMessageTooLong(let kindCode, let length, let limit, let offset):
            "the message of kind \(kindCode) at byte \(offset) announces \(length) bytes; the limit is \(limit)"
        case .malformed(let kind, let problem, let offset):
            "the \(kind) message at byte \(offset) can't be read: \(problem)"
        case .endedInsideMessage(let offset, let missing):
            "the connection ended inside the message at byte \(offset), at least \(missing) bytes before its end"
        }
    }
}
