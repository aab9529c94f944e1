import ByteCoding

extension STUNMessage {
    /// Encodes a message: `attributes`, then MESSAGE-INTEGRITY if a key is given, then FINGERPRINT.
    ///
    /// - Parameters:
    ///   - key: the key for MESSAGE-INTEGRITY; nil omits the attribute.
    ///   - hmac: returns the HMAC-SHA1 of the data under the key, 20 bytes.
    public static func encode(
        _ messageClass: Class, method: Method = .binding, transactionID: TransactionID, attributes: [STUNAttribute],
        key: [UInt8]?, hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.uint16(type(messageClass, method))
        writer.uint16(0)
        writer.uint32(magicCookie)
        writer.append(transactionID.bytes)
        for attribute in attributes { attribute.write(to: &writer, transactionID: transactionID) }
        if let key {
            let code = hmac(key, settingLength(of: writer.bytes, following: 24))
            STUNAttribute.other(type: STUNAttribute.Kind.messageIntegrity, value: code)
                .write(to: &writer, transactionID: transactionID)
        }
        let crc = fingerprint(of: writer.bytes)
        STUNAttribute.other(type: STUNAttribute.Kind.fingerprint, value: crc)
            .write(to: &writer, transactionID: transactionID)
        return settingLength(of: writer.bytes, following: 0)
    }

    /// The success response to `request`, which came from `address`.
    ///
    /// - Parameter key: the key that the request was signed with (RFC 8489 section 9.1.3.2), which is our own ICE
    ///   password.
    public static func success(
        to request: STUNMessage, from address: TransportAddress, key: [UInt8],
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        encode(
            .success, method: request.method, transactionID: request.transactionID,
            attributes: [.xorMappedAddress(address.unmapped)], key: key, hmac: hmac)
    }

    /// The error response to `request`.
    ///
    /// - Parameters:
    ///   - unknownAttributes: the attribute types that a 420 response lists.
    ///   - key: nil if the request was not authenticated (400, 401).
    public static func failure(
        _ code: STUNErrorCode, to request: STUNMessage, unknownAttributes: [UInt16] = [], key: [UInt8]?,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        var attributes: [STUNAttribute] = [.errorCode(code.rawValue, reason: code.reason)]
        if !unknownAttributes.isEmpty { attributes.append(.unknownAttributes(unknownAttributes)) }
        return encode(
            .error, method: request.method, transactionID: request.transactionID, attributes: attributes, key: key,
            hmac: hmac)
    }

    /// Combines class and method: the class's two bits are interleaved with the method's twelve, `mmmmmCmmmCmmmm`.
    private static func type(_ messageClass: Class, _ method: Method) -> UInt16 {
        let bits = method.rawValue
        return bits & 0xf | (bits & 0x70) << 1 | (bits & 0xf80) << 2 | (messageClass.rawValue & 1) << 4
            | (messageClass.rawValue & 2) << 7
    }
}

/// The error codes with which we answer a binding request (RFC 8489 section 14.8, RFC 8445 section 16.2).
public enum STUNErrorCode: Int, Sendable {
    case badRequest = 400
    case unauthenticated = 401
    case unknownAttribute = 420
    case roleConflict = 487

    /// The reason phrase for the code.
    public var reason: String {
        switch self {
        case .badRequest: "Bad Request"
        case .unauthenticated: "Unauthenticated"
        case .unknownAttribute: "Unknown Attribute"
        case .roleConflict: "Role Conflict"
        }
    }
}
