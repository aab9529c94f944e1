import ByteCoding

/// What TURN adds to STUN (RFC 8656 sections 17 and 18), as far as a client needs it that relays UDP by channels.
extension STUNMessage.Method {
    /// Allocate: asks for a relayed address.
    public static let allocate = Self(rawValue: 3)
    /// Refresh: prolongs or ends an allocation.
    public static let refresh = Self(rawValue: 4)
    /// ChannelBind: binds a channel to a peer's address, or prolongs that.
    public static let channelBind = Self(rawValue: 9)
}

extension STUNAttribute {
    enum TURNKind {
        static let channelNumber: UInt16 = 0x000c
        static let lifetime: UInt16 = 0x000d
        static let xorPeerAddress: UInt16 = 0x0012
        static let realm: UInt16 = 0x0014
        static let nonce: UInt16 = 0x0015
        static let requestedTransport: UInt16 = 0x0019
    }

    /// REQUESTED-TRANSPORT for UDP: its protocol number and three reserved bytes.
    public static let requestedUDP = STUNAttribute.other(type: TURNKind.requestedTransport, value: [17, 0, 0, 0])

    /// LIFETIME, in seconds.
    public static func lifetime(_ seconds: UInt32) -> STUNAttribute {
        var writer = ByteWriter()
        writer.uint32(seconds)
        return .other(type: TURNKind.lifetime, value: writer.bytes)
    }

    /// CHANNEL-NUMBER.
    public static func channelNumber(_ number: UInt16) -> STUNAttribute {
        .other(type: TURNKind.channelNumber, value: [UInt8(number >> 8), UInt8(number & 0xff), 0, 0])
    }

    /// XOR-PEER-ADDRESS in a request with this identifier.
    public static func peer(_ address: TransportAddress, in id: STUNMessage.TransactionID) -> STUNAttribute {
        .other(
            type: TURNKind.xorPeerAddress, value: STUNAttribute.xorMappedAddress(address).value(transactionID: id))
    }
}

extension STUNMessage {
    /// LIFETIME in seconds; nil if there is none.
    public var lifetime: UInt32? {
        value(of: STUNAttribute.TURNKind.lifetime).flatMap { value in
            value.count == 4 ? value.reduce(0) { $0 << 8 | UInt32($1) } : nil
        }
    }

    fileprivate func value(of type: UInt16) -> [UInt8]? {
        for case .other(type, let value) in attributes { return value }
        return nil
    }
}

/// What requests show to a server that wants to see long-term credentials (RFC 8489 section 9.2.3).
public struct LongTermProof: Sendable {
    /// The attributes that each request has, before MESSAGE-INTEGRITY.
    public let attributes: [STUNAttribute]
    /// The key of MESSAGE-INTEGRITY.
    public let key: [UInt8]

    /// The longest realm and nonce that are repeated, in bytes (RFC 8489 sections 14.9 and 14.10).
    private static let maxByteCount = 763

    /// Nil if `challenge`, an error response, isn't such a demand.
    ///
    /// - Parameter md5: returns the MD5 hash of the bytes, 16 bytes.
    public init?(answering challenge: STUNMessage, user: String, password: String, md5: ([UInt8]) -> [UInt8]) {
        guard let realm = challenge.value(of: STUNAttribute.TURNKind.realm), realm.count <= Self.maxByteCount,
            let nonce = challenge.value(of: STUNAttribute.TURNKind.nonce), nonce.count <= Self.maxByteCount
        else { return nil }
        attributes = [
            .username(user), .other(type: STUNAttribute.TURNKind.realm, value: realm),
            .other(type: STUNAttribute.TURNKind.nonce, value: nonce),
        ]
        // Section 18.5.1.1.
        key = md5(Array("\(user):".utf8) + realm + Array(":\(password)".utf8))
    }
}
