/// One peer's view of our ICE-lite agent (RFC 8445 section 2.5): it answers checks, and makes none to find a way. The one request of
/// its own asks whether the peer receives what is sent to an address (RFC 7675).
///
/// It keeps nothing, so a check that does not hold leaves nothing behind.
public struct LiteAgent: Sendable {
    /// What a check's sender gets back, and what the check said.
    public struct Reply: Sendable, Equatable {
        /// What to send to where the check came from.
        public var datagram: [UInt8]
        /// What the check was worth.
        public var verdict: Verdict
    }

    /// What a check was worth.
    public enum Verdict: Sendable, Equatable {
        /// Authenticated: the peer can be reached where the check came from, and nominates that pair or not.
        case valid(nominated: Bool)
        /// Refused with an error response.
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

    /// Our user name fragment that `request` is for: by it the agent is found.
    public static func localUfrag(of request: STUNMessage) -> String? {
        guard let username = request.username, let colon = username.firstIndex(of: ":") else { return nil }
        return String(username[..<colon])
    }

    /// Judges `request`, which came from `address`; nil where the message is no binding request and gets no answer.
    ///
    /// PRIORITY and a role may be missing (FFmpeg's checks have neither). A peer that takes itself for controlled is told
    /// 487: a lite agent is never controlling.
    ///
    /// - Parameter hmac: HMAC-SHA1 of data under a key: 20 bytes.
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

    /// A binding request of ours: only who receives it can answer it, since nobody else knows `transactionID`.
    ///
    /// It looks like the check of a full agent that is controlled, so that every peer knows what to do with it.
    ///
    /// - Parameter hmac: HMAC-SHA1 of data under a key: 20 bytes.
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

    /// Whether `response` is the peer's success response to the request `transactionID` of ours.
    public func isAnswer(
        _ response: STUNMessage, to transactionID: STUNMessage.TransactionID,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> Bool {
        response.messageClass == .success && response.method == .binding && response.transactionID == transactionID
            && response.hasValidIntegrity(key: remotePassword, hmac: hmac)
    }

    /// That of a peer-reflexive candidate (RFC 8445 section 5.1.2); a lite agent has no better one to tell.
    private static let priority: UInt32 = 110 << 24 | 65_535 << 8 | 255
}
