import ByteCoding

/// An attribute of a STUN message, except MESSAGE-INTEGRITY and FINGERPRINT, which `STUNMessage` handles itself.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |             type              |   length without padding      |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |            value, padded to a multiple of 4 bytes          ....
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public enum STUNAttribute: Sendable, Equatable {
    /// `ufrag of the receiver:ufrag of the sender` in a connectivity check (RFC 8445 section 7.2.2).
    case username(String)
    /// The priority that a peer-reflexive candidate would have.
    case priority(UInt32)
    /// The controlling agent nominates this pair.
    case useCandidate
    /// The sender is the controlling agent; the value breaks ties.
    case iceControlling(UInt64)
    /// The sender is the controlled agent; the value breaks ties.
    case iceControlled(UInt64)
    /// The address that the request came from, as its receiver saw it.
    case xorMappedAddress(TransportAddress)
    /// The number (300 to 699) and the reason of an error response.
    case errorCode(Int, reason: String)
    /// The attribute types that the receiver was required to understand and did not.
    case unknownAttributes([UInt16])
    /// The name of the software that sent the message.
    case software(String)
    /// Any other type.
    case other(type: UInt16, value: [UInt8])

    enum Kind {
        static let username: UInt16 = 0x0006
        static let messageIntegrity: UInt16 = 0x0008
        static let errorCode: UInt16 = 0x0009
        static let unknownAttributes: UInt16 = 0x000a
        static let xorMappedAddress: UInt16 = 0x0020
        static let priority: UInt16 = 0x0024
        static let useCandidate: UInt16 = 0x0025
        static let software: UInt16 = 0x8022
        static let fingerprint: UInt16 = 0x8028
        static let iceControlled: UInt16 = 0x8029
        static let iceControlling: UInt16 = 0x802a
    }

    /// The attribute's type number (RFC 8489 section 18.3, RFC 8445 section 16.1).
    public var type: UInt16 {
        switch self {
        case .username: Kind.username
        case .priority: Kind.priority
        case .useCandidate: Kind.useCandidate
        case .iceControlling: Kind.iceControlling
        case .iceControlled: Kind.iceControlled
        case .xorMappedAddress: Kind.xorMappedAddress
        case .errorCode: Kind.errorCode
        case .unknownAttributes: Kind.unknownAttributes
        case .software: Kind.software
        case .other(let type, _): type
        }
    }

    /// Reads the value of an attribute of `type`.
    init(
        type: UInt16, value: ArraySlice<UInt8>, transactionID: STUNMessage.TransactionID
    ) throws(STUNError) {
        let malformed = STUNError.malformedAttribute(type: type, length: value.count)
        var reader = ByteReader(value)
        switch type {
        case Kind.username:
            guard value.count <= 513, let text = Self.text(value) else { throw malformed }
            self = .username(text)
        case Kind.software:
            guard value.count <= 763, let text = Self.text(value) else { throw malformed }
            self = .software(text)
        case Kind.priority:
            guard value.count == 4, let priority = reader.uint32() else { throw malformed }
            self = .priority(priority)
        case Kind.useCandidate:
            guard value.isEmpty else { throw malformed }
            self = .useCandidate
        case Kind.iceControlling:
            guard value.count == 8, let tieBreaker = reader.uint64() else { throw malformed }
            self = .iceControlling(tieBreaker)
        case Kind.iceControlled:
            guard value.count == 8, let tieBreaker = reader.uint64() else { throw malformed }
            self = .iceControlled(tieBreaker)
        case Kind.xorMappedAddress:
            guard let address = Self.xorAddress(&reader, transactionID) else { throw malformed }
            self = .xorMappedAddress(address)
        case Kind.errorCode:
            guard let head = reader.uint32(), (3...6).contains(head >> 8 & 7), head & 0xff < 100,
                let reason = Self.text(reader.rest)
            else { throw malformed }
            self = .errorCode(Int(head >> 8 & 7) * 100 + Int(head & 0xff), reason: reason)
        case Kind.unknownAttributes:
            guard value.count.isMultiple(of: 2) else { throw malformed }
            var types: [UInt16] = []
            while let type = reader.uint16() { types.append(type) }
            self = .unknownAttributes(types)
        default:
            self = .other(type: type, value: Array(value))
        }
    }

    /// Appends the attribute with its header and padding.
    func write(to writer: inout ByteWriter, transactionID: STUNMessage.TransactionID) {
        let value = value(transactionID: transactionID)
        writer.uint16(type)
        writer.uint16(UInt16(clamping: value.count))
        writer.append(value)
        for _ in 0..<(-value.count & 3) { writer.uint8(0) }
    }

    func value(transactionID: STUNMessage.TransactionID) -> [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .username(let text), .software(let text): writer.append(text.utf8)
        case .priority(let priority): writer.uint32(priority)
        case .useCandidate: break
        case .iceControlling(let tieBreaker), .iceControlled(let tieBreaker): writer.uint64(tieBreaker)
        case .xorMappedAddress(let address):
            writer.uint8(0)
            writer.uint8(address.family.rawValue)
            writer.uint16(address.port ^ UInt16(STUNMessage.magicCookie >> 16))
            writer.append(zip(address.bytes, transactionID.mask).map { $0 ^ $1 })
        case .errorCode(let code, let reason):
            writer.uint16(0)
            writer.uint8(UInt8(clamping: code / 100))
            writer.uint8(UInt8(clamping: code % 100))
            writer.append(reason.utf8)
        case .unknownAttributes(let types):
            for type in types { writer.uint16(type) }
        case .other(_, let value): writer.append(value)
        }
        return writer.bytes
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }

    ///     +--------+--------+-----------------+----------------------------+
    ///     |   0    | family |  port ^ cookie  | address ^ (cookie, id) ... |
    ///     +--------+--------+-----------------+----------------------------+
    private static func xorAddress(
        _ reader: inout ByteReader, _ transactionID: STUNMessage.TransactionID
    ) -> TransportAddress? {
        guard reader.uint8() != nil, let family = reader.uint8().flatMap(TransportAddress.Family.init(rawValue:)),
            let port = reader.uint16(), reader.count == (family == .ipv4 ? 4 : 16)
        else { return nil }
        return TransportAddress(
            bytes: zip(reader.rest, transactionID.mask).map { $0 ^ $1 },
            port: port ^ UInt16(STUNMessage.magicCookie >> 16))
    }
}
