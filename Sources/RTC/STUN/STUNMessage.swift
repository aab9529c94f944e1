import ByteCoding

/// A STUN message (RFC 8489 section 5) parsed from a datagram.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |0 0|   class and method        |   length of the attributes    |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                 magic cookie 0x2112A442                       |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                 transaction id (12 bytes)                     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
/// A FINGERPRINT, if present, has been verified. A MESSAGE-INTEGRITY has not; see `hasValidIntegrity(key:hmac:)`.
public struct STUNMessage: Sendable, Equatable {
    /// The class of a message: a request, an indication or a response.
    public enum Class: UInt16, Sendable {
        case request = 0
        case indication = 1
        case success = 2
        case error = 3
    }

    /// The method of a message: 12 bits, of which we know one value.
    public struct Method: RawRepresentable, Sendable, Equatable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue & 0xfff }
        /// Binding, which ICE's checks use.
        public static let binding = Method(rawValue: 1)
    }

    /// The identifier that ties a response to its request: 96 bits.
    public struct TransactionID: Sendable, Hashable {
        /// The identifier's bytes, always 12.
        public let bytes: [UInt8]

        /// Creates an identifier; nil unless `bytes` has exactly 12 bytes.
        public init?(_ bytes: some Collection<UInt8>) {
            guard bytes.count == 12 else { return nil }
            self.bytes = Array(bytes)
        }

        /// The mask that addresses are XORed with: the magic cookie, then the identifier.
        var mask: [UInt8] { [0x21, 0x12, 0xa4, 0x42] + bytes }
    }

    static let magicCookie: UInt32 = 0x2112_a442
    static let headerLength = 20
    /// The longest message that we read, in bytes. No check that fits a path without fragmentation is longer.
    public static let maxLength = 2048

    /// Whether it is a request, an indication, or a response of success or error.
    public let messageClass: Class
    /// What the message is for.
    public let method: Method
    /// The identifier that a response has in common with its request.
    public let transactionID: TransactionID
    /// The attributes in order. Those after MESSAGE-INTEGRITY are left out, because anyone on the path could have added
    /// them.
    public let attributes: [STUNAttribute]
    /// Whether the message had a FINGERPRINT (parsing throws if it is wrong).
    public let hasFingerprint: Bool

    /// The part of the datagram before MESSAGE-INTEGRITY, and that attribute's value.
    private let integrity: Integrity?

    private struct Integrity: Sendable, Equatable {
        var covered: [UInt8]
        var code: [UInt8]
    }

    /// Parses `datagram`, which must hold exactly one message.
    ///
    /// - Throws: ``STUNError`` with the first thing that is wrong. A wrong integrity is no error here.
    public init(parsing datagram: [UInt8]) throws(STUNError) {
        guard (Self.headerLength...Self.maxLength).contains(datagram.count) else {
            throw .length(datagram.count)
        }
        var reader = ByteReader(datagram)
        guard let type = reader.uint16(), type >> 14 == 0, let length = reader.uint16(),
            reader.uint32() == Self.magicCookie, let id = reader.bytes(12).flatMap({ TransactionID($0) }),
            let messageClass = Class(rawValue: type >> 7 & 2 | type >> 4 & 1)
        else { throw .notSTUN }
        guard length.isMultiple(of: 4), Int(length) == reader.count else {
            throw .lengthField(Int(length), datagram: datagram.count)
        }

        var attributes: [STUNAttribute] = []
        var integrity: Integrity?
        var hasFingerprint = false
        while !reader.isEmpty {
            let offset = datagram.count - reader.count
            guard !hasFingerprint else { throw .fingerprintNotLast }
            // The attributes' total length and every padded attribute are multiples of four bytes, so a header is never
            // cut short.
            guard let type = reader.uint16(), let length = reader.uint16() else { throw .truncatedAttribute(type: 0) }
            guard let value = reader.bytes(Int(length)), reader.bytes(-Int(length) & 3) != nil else {
                throw .truncatedAttribute(type: type)
            }
            switch type {
            case STUNAttribute.Kind.fingerprint:
                guard value.count == 4 else { throw .malformedAttribute(type: type, length: value.count) }
                guard value.elementsEqual(Self.fingerprint(of: datagram.prefix(offset))) else {
                    throw .fingerprintMismatch
                }
                hasFingerprint = true
            case _ where integrity != nil:
                continue
            case STUNAttribute.Kind.messageIntegrity:
                guard value.count == 20 else { throw .malformedAttribute(type: type, length: value.count) }
                integrity = Integrity(covered: Array(datagram.prefix(offset)), code: Array(value))
            default:
                attributes.append(try STUNAttribute(type: type, value: value, transactionID: id))
            }
        }
        self.messageClass = messageClass
        method = Method(rawValue: type & 0xf | type >> 1 & 0x70 | type >> 2 & 0xf80)
        transactionID = id
        self.attributes = attributes
        self.integrity = integrity
        self.hasFingerprint = hasFingerprint
    }

    /// Whether the message had a MESSAGE-INTEGRITY, valid or not.
    public var hasIntegrity: Bool { integrity != nil }

    /// Whether the message has a MESSAGE-INTEGRITY made with `key` (RFC 8489 section 14.5). The comparison takes
    /// constant time.
    ///
    /// - Parameters:
    ///   - key: in ICE, the password of the request's receiver.
    ///   - hmac: returns the HMAC-SHA1 of the data under the key, 20 bytes.
    public func hasValidIntegrity(key: [UInt8], hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]) -> Bool {
        guard let integrity else { return false }
        let expected = hmac(key, Self.settingLength(of: integrity.covered, following: 24))
        guard expected.count == integrity.code.count else { return false }
        return zip(expected, integrity.code).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The text of USERNAME.
    public var username: String? {
        for case .username(let text) in attributes { return text }
        return nil
    }

    /// The value of PRIORITY.
    public var priority: UInt32? {
        for case .priority(let value) in attributes { return value }
        return nil
    }

    /// Whether the controlling agent nominates the pair that this request was sent on.
    public var useCandidate: Bool { attributes.contains(.useCandidate) }

    /// The source address of our request, as its receiver saw it.
    public var xorMappedAddress: TransportAddress? {
        for case .xorMappedAddress(let address) in attributes { return address }
        return nil
    }

    /// The number and reason of an error response.
    public var errorCode: (code: Int, reason: String)? {
        for case .errorCode(let code, let reason) in attributes { return (code, reason) }
        return nil
    }

    /// The attribute types that a receiver must understand (below 0x8000) and that we do not.
    public var unknownRequiredAttributes: [UInt16] {
        attributes.compactMap { attribute in
            guard case .other(let type, _) = attribute, type < 0x8000 else { return nil }
            return type
        }
    }

    /// `head` (a header and whole attributes) with the header's length field set as if `following` more bytes came
    /// after it. MESSAGE-INTEGRITY and FINGERPRINT are computed over this.
    static func settingLength(of head: some Collection<UInt8>, following: Int) -> [UInt8] {
        var bytes = Array(head)
        guard bytes.count >= headerLength else { return bytes }
        let length = UInt16(clamping: bytes.count - headerLength + following)
        bytes[2] = UInt8(length >> 8)
        bytes[3] = UInt8(length & 0xff)
        return bytes
    }
}
