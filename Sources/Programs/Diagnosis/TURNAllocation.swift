import CGLib
import STUN
import SecureTransport
import Signalling

/// A relayed address of a TURN server (RFC 8656), requested and given back at once.
enum TURNAllocation {
    /// How a server answers a request for one.
    enum Outcome: Equatable {
        case allocated
        /// With this error (RFC 8489 section 14.8, RFC 8656 section 19).
        case refused(code: Int, reason: String)
    }

    private static let allocate = STUNMessage.Method(rawValue: 3)
    private static let refresh = STUNMessage.Method(rawValue: 4)

    private enum Kind {
        static let lifetime: UInt16 = 0x000d
        static let realm: UInt16 = 0x0014
        static let nonce: UInt16 = 0x0015
        static let requestedTransport: UInt16 = 0x0019
    }

    /// What a request shows after the server has said what it wants to see (RFC 8489 section 9.2.3).
    private struct Proof {
        let attributes: [STUNAttribute]
        let key: [UInt8]

        /// Nil if `challenge` isn't one, or if there are no credentials.
        init?(_ challenge: STUNMessage, _ credentials: (user: String, password: String)?) {
            guard let credentials, let realm = challenge.value(Kind.realm), let nonce = challenge.value(Kind.nonce)
            else { return nil }
            attributes = [
                .username(credentials.user), .other(type: Kind.realm, value: realm),
                .other(type: Kind.nonce, value: nonce),
            ]
            key = Self.md5(Array("\(credentials.user):".utf8) + realm + Array(":\(credentials.password)".utf8))
        }

        /// RFC 8489 section 18.5.1.1.
        private static func md5(_ bytes: [UInt8]) -> [UInt8] {
            let checksum = g_checksum_new(G_CHECKSUM_MD5)
            defer { g_checksum_free(checksum) }
            g_checksum_update(checksum, bytes, gssize(bytes.count))
            var digest = [UInt8](repeating: 0, count: 16)
            var count = gsize(digest.count)
            g_checksum_get_digest(checksum, &digest, &count)
            return digest
        }
    }

    /// Requests a relayed address for UDP with the long-term credentials, and gives it back.
    static func attempt(
        at server: ICEServer, with credentials: (user: String, password: String)?
    ) throws(ServerChannel.Problem) -> Outcome {
        let channel = try ServerChannel(server)
        // 17 is UDP, then three reserved bytes.
        let wanted = STUNAttribute.other(type: Kind.requestedTransport, value: [17, 0, 0, 0])
        var proof: Proof?
        var answer = try ask(channel, allocate, [wanted], proof)
        // The first answer asks for credentials; 438 says that its nonce is too old by now.
        for expected in [401, 438] where answer.errorCode?.code == expected {
            guard let next = Proof(answer, credentials) else { break }
            proof = next
            answer = try ask(channel, allocate, [wanted], proof)
        }
        if let error = answer.errorCode { return .refused(code: error.code, reason: error.reason) }
        guard answer.messageClass == .success else { throw .notSTUN }
        // Should this get lost, the server frees the address after ten minutes.
        _ = try? ask(channel, refresh, [.other(type: Kind.lifetime, value: [0, 0, 0, 0])], proof)
        return .allocated
    }

    private static func ask(
        _ channel: ServerChannel, _ method: STUNMessage.Method, _ attributes: [STUNAttribute], _ proof: Proof?
    ) throws(ServerChannel.Problem) -> STUNMessage {
        guard let identifier = ICEServerCheck.identifier() else { throw .notSTUN }
        let request = STUNMessage.encode(
            .request, method: method, transactionID: identifier, attributes: attributes + (proof?.attributes ?? []),
            key: proof?.key, hmac: Authentication.hmacSHA1)
        return try channel.ask(request, identifier)
    }
}

extension STUNMessage {
    /// The value of an attribute that is only TURN's.
    fileprivate func value(_ type: UInt16) -> [UInt8]? {
        for case .other(type, let value) in attributes { return value }
        return nil
    }
}
