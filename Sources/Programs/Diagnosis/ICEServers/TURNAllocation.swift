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

    /// Requests a relayed address for UDP with the long-term credentials, and gives it back.
    static func attempt(
        at server: ICEServer, with credentials: (user: String, password: String)?
    ) throws(ServerChannel.ChannelError) -> Outcome {
        let channel = try ServerChannel(server)
        var proof: LongTermProof?
        var answer = try ask(channel, .allocate, [.requestedUDP], proof)
        // The first answer asks for credentials; 438 says that its nonce is too old by now.
        for expected in [401, 438] where answer.errorCode?.code == expected {
            guard let credentials,
                let next = LongTermProof(
                    answering: answer, user: credentials.user, password: credentials.password, md5: Authentication.md5)
            else { break }
            proof = next
            answer = try ask(channel, .allocate, [.requestedUDP], proof)
        }
        if let error = answer.errorCode { return .refused(code: error.code, reason: error.reason) }
        guard answer.messageClass == .success else { throw .notSTUN }
        // Should this get lost, the server frees the address after ten minutes.
        _ = try? ask(channel, .refresh, [.lifetime(0)], proof)
        return .allocated
    }

    private static func ask(
        _ channel: ServerChannel, _ method: STUNMessage.Method, _ attributes: [STUNAttribute], _ proof: LongTermProof?
    ) throws(ServerChannel.ChannelError) -> STUNMessage {
        guard let identifier = ICEServerCheck.identifier() else { throw .notSTUN }
        let request = STUNMessage.encode(
            .request, method: method, transactionID: identifier, attributes: attributes + (proof?.attributes ?? []),
            key: proof?.key, hmac: Authentication.hmacSHA1)
        return try channel.ask(request, identifier)
    }
}
