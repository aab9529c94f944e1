/// Our ICE-lite agent for one peer (RFC 8445 section 2.5): it answers connectivity checks and sends none of its own to
/// find a path. The only request that it sends asks whether the peer receives what is sent to an address (consent, RFC
/// 7675).
///
/// It is stateless, so a check that fails validation leaves nothing behind.
public struct LiteAgent: Sendable {
    /// The response to a connectivity check, and the check's verdict.
    public struct Reply: Sendable, Equatable {
        /// The response, to be sent to the address that the check came from.
        public var datagram: [UInt8]
        /// Whether the check was accepted.
        public var verdict: Verdict
    }

    /// The result of validating a check.
    public enum Verdict: Sendable, Equatable {
        /// The check is authentic; `nominated` says whether the peer nominates the pair that the check was sent on.
        case valid(nominated: Bool)
        /// The check was refused with an error response.
        case refused(STUNErrorCode)
    }

    /// Our user name fragment.
    public let localUfrag: String
    /// The peer's user name fragment, from its description.
    public let remoteUfrag: String
    private let localPassword: [UInt8]
    private let remotePassword: [UInt8]

    public init(localUfrag: String, localPassword: String, remoteUfrag: String, remotePassword: String) {
        self.localUfrag = localUfrag
        self.localPassword = Array(localPassword.utf8)
        self.remoteUfrag = remoteUfrag
        self.remotePassword = Array(remotePassword.utf8)
    }

    /// The user name fragment of ours that `request` names, by which the agent is looked up.
    public static func localUfrag(of request: STUNMessage) -> String? {
        guard let username = request.username, let colon = username.firstIndex(of: ":") else { return nil }
        return String(username[..<colon])
    }

    /// Validates `request`, which came from `address`, and returns the response; nil if the message is not a binding
    /// request and gets no response.
    ///
    /// PRIORITY and the role attribute may be missing (FFmpeg's checks have neither). A peer that claims the controlled
    /// role is answered with 487, because a lite agent is never the controlling one.
    ///
    /// - Parameter hmac: returns the HMAC-SHA1 of the data under the key, 20 bytes.
    public func reply(
        to request: STUNMessage, from address: TransportAddress, hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> Reply? {
        guard request.messageClass == .request, request.method == .binding else { return nil }
        func refusal(_ code: STUNErrorCode, unknown: [UInt16] = [], signed: Bool) -> Reply {
            Reply(
                datagram: STUNMessage.failure(
                    code, to: request, unknownAttributes: unknown, key: signed ? localPassword : nil, hmac: hmac),
                verdict: .refused(code))
        }
        guard let username = request.username, request.hasIntegrity else { return refusal(.badRequest, signed: false) }
        guard username == "\(localUfrag):\(remoteUfrag)", request.hasValidIntegrity(key: localPassword, hmac: hmac)
        else { return refusal(.unauthenticated, signed: false) }
        let unknown = request.unknownRequiredAttributes
        guard unknown.isEmpty else { return refusal(.unknownAttribute, unknown: unknown, signed: true) }
        for case .iceControlled in request.attributes { return refusal(.roleConflict, signed: true) }
        return Reply(
            datagram: STUNMessage.success(to: request, from: address, key: localPassword, hmac: hmac),
            verdict: .valid(nominated: request.useCandidate))
    }

    /// A binding request from us. Only a peer that receives it can answer it, since nobody else knows `transactionID`.
    ///
    /// It has the form of a check by a full agent in the controlled role, so every peer knows how to answer it.
    ///
    /// - Parameter hmac: returns the HMAC-SHA1 of the data under the key, 20 bytes.
    public func request(
        _ transactionID: STUNMessage.TransactionID, hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        STUNMessage.encode(
            .request, transactionID: transactionID,
            attributes: [
                .username("\(remoteUfrag):\(localUfrag)"), .priority(Self.priority),
                .iceControlled(transactionID.bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }),
            ], key: remotePassword, hmac: hmac)
    }

    /// Whether `response` is the peer's success response to our request `transactionID`.
    public func isAnswer(
        _ response: STUNMessage, to transactionID: STUNMessage.TransactionID,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> Bool {
        response.messageClass == .success && response.method == .binding && response.transactionID == transactionID
            && response.hasValidIntegrity(key: remotePassword, hmac: hmac)
    }

    /// The priority of a peer-reflexive candidate (RFC 8445 section 5.1.2); a lite agent has no other to give.
    private static let priority: UInt32 = 110 << 24 | 65_535 << 8 | 255
}
