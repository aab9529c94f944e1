/// Why a datagram is not a STUN message.
public enum STUNError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The datagram is shorter than a header, or longer than the longest message that we read.
    case length(Int)
    /// The first two bits are not zero, or the magic cookie is wrong.
    case notSTUN
    /// The header's length field does not match the datagram's length.
    case lengthField(Int, datagram: Int)
    /// An attribute extends past the end of the message.
    case truncatedAttribute(type: UInt16)
    /// An attribute's value does not have the form that its type requires.
    case malformedAttribute(type: UInt16, length: Int)
    /// An attribute follows FINGERPRINT.
    case fingerprintNotLast
    /// The CRC-32 in FINGERPRINT does not match the message.
    case fingerprintMismatch

    public var description: String {
        switch self {
        case .length(let count):
            "a datagram of \(count) bytes is no STUN message (20 to \(STUNMessage.maxLength) bytes)"
        case .notSTUN: "the datagram does not start with a STUN header"
        case .lengthField(let length, let datagram):
            "the STUN header says \(length) bytes of attributes in a datagram of \(datagram) bytes"
        case .truncatedAttribute(let type): "STUN attribute \(Self.hex(type)) ends after its message"
        case .malformedAttribute(let type, let length):
            "STUN attribute \(Self.hex(type)) of \(length) bytes is malformed"
        case .fingerprintNotLast: "STUN attributes follow FINGERPRINT"
        case .fingerprintMismatch: "the STUN message's FINGERPRINT is not that of its bytes"
        }
    }

    private static func hex(_ type: UInt16) -> String { "0x" + String(type, radix: 16) }
}
