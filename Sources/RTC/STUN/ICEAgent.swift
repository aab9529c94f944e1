/// The messages of our ICE agent for one peer: it answers connectivity checks, and writes requests of its own. Its
/// ``Role`` decides whether it is ICE-lite (RFC 8445 section 2.5), so that the peer chooses the path, or a full agent.
///
/// Its only state is its role, so a check that fails validation leaves nothing behind.
public struct ICEAgent: Sendable {
    /// Who chooses the path (RFC 8445 section 6.1.1).
    public enum Role: Sendable, Hashable {
        /// The peer always does, because we say that we are ICE-lite.
        case lite
        /// The peer does; the number settles who does if both agents claim the same role.
        case controlled(tieBreaker: UInt64)
        /// We do.
        case controlling(tieBreaker: UInt64)
    }

    /// The response to a connectivity check, and the check's verdict.
    public struct Reply: Sendable, Equatable {
        /// The response, to be sent to the address that the check came from.
        public var datagram: [UInt8]
        /// Whether the check was accepted.
        public var verdict: Verdict
        /// Whether the peer claims our role and keeps it, so that we have to take the other one.
        public var yieldsRole = false
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
    /// Whether the agent is controlled, controlling or ICE-lite.
    public var role: Role
    private let localPassword: [UInt8]
    private let remotePassword: [UInt8]

    /// Creates an agent with both sides' credentials, as their descriptions have them.
    public init(
        localUfrag: String, localPassword: String, remoteUfrag: String, remotePassword: String, role: Role = .lite
    ) {
        self.role = role
        self.localUfrag = localUfrag
        self.localPassword = Array(localPassword.utf8)
        self.remoteUfrag = remoteUfrag
        self.remotePassword = Array(remotePassword.utf8)
    }

    /// Our user name fragment that `request` names, by which the agent is looked up.
    public static func localUfrag(of request: STUNMessage) -> String? {
        guard let username = request.username, let colon = username.firstIndex(of: ":") else { return nil }
        return String(username[..<colon])
    }

    /// Validates `request`, which came from `address`, and returns the response; nil if the message is not a binding
    /// request and gets no response.
    ///
    /// PRIORITY and the role attribute may be missing (FFmpeg's checks have neither). A peer that claims our role is
    /// answered with 487, unless its tie-breaker is the larger one (RFC 8445 section 7.3.1.1). A lite agent is never
    /// the controlling one.
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
        let conflict = conflict(with: request)
        guard conflict != .refused else { return refusal(.roleConflict, signed: true) }
        return Reply(
            datagram: STUNMessage.success(to: request, from: address, key: localPassword, hmac: hmac),
            verdict: .valid(nominated: request.useCandidate), yieldsRole: conflict == .yielded)
    }

    private enum Conflict {
        case none
        case refused
        case yielded
    }

    private func conflict(with request: STUNMessage) -> Conflict {
        for attribute in request.attributes {
            switch (role, attribute) {
            case (.lite, .iceControlled): return .refused
            case (.controlling(let own), .iceControlling(let other)): return own >= other ? .refused : .yielded
            // The agent with the larger number controls.
            case (.controlled(let own), .iceControlled(let other)): return own >= other ? .yielded : .refused
            default: continue
            }
        }
        return .none
    }

    /// A binding request from us. Only a peer that receives it can answer it, since no third party knows
    /// `transactionID`.
    ///
    /// A lite agent's request has the form of a check by a full agent in the controlled role, so every peer knows how
    /// to answer it.
    ///
    /// - Parameters:
    ///   - nominates: whether the request asks for its path to be used; only for the controlling agent.
    ///   - hmac: returns the HMAC-SHA1 of the data under the key, 20 bytes.
    public func request(
        _ transactionID: STUNMessage.TransactionID, nominates: Bool = false,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        let roleAttribute: STUNAttribute =
            switch role {
            case .lite: .iceControlled(transactionID.bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
            case .controlled(let tieBreaker): .iceControlled(tieBreaker)
            case .controlling(let tieBreaker): .iceControlling(tieBreaker)
            }
        let attributes: [STUNAttribute] = [
            .username("\(remoteUfrag):\(localUfrag)"), .priority(Self.priority), roleAttribute,
        ]
        return STUNMessage.encode(
            .request, transactionID: transactionID, attributes: attributes + (nominates ? [.useCandidate] : []),
            key: remotePassword, hmac: hmac)
    }

    /// Whether `response` is the peer's success response to our request `transactionID`.
    public func isAnswer(
        _ response: STUNMessage, to transactionID: STUNMessage.TransactionID,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> Bool {
        response.messageClass == .success && isResponse(response, to: transactionID, hmac: hmac)
    }

    /// Whether `response` is the peer's word that our request `transactionID` claims the peer's own role.
    public func isRoleConflict(
        _ response: STUNMessage, to transactionID: STUNMessage.TransactionID,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> Bool {
        response.messageClass == .error && response.errorCode?.code == STUNErrorCode.roleConflict.rawValue
            && isResponse(response, to: transactionID, hmac: hmac)
    }

    private func isResponse(
        _ response: STUNMessage, to transactionID: STUNMessage.TransactionID,
        hmac: (_ key: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> Bool {
        response.method == .binding && response.transactionID == transactionID
            && response.hasValidIntegrity(key: remotePassword, hmac: hmac)
    }

    /// The priority of a peer-reflexive candidate (RFC 8445 section 5.1.2): what the peer learns of us by a check is
    /// one.
    private static let priority: UInt32 = 110 << 24 | 65_535 << 8 | 255
}
