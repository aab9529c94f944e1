public import CaptureLink
public import LinkTransport

/// Whose pictures a host takes that come to its TCP port: of captures that prove that they have its token, and of legacy senders,
/// which can't, from addresses that its owner names.
public struct LinkAdmission: Sendable {
    /// What captures have to have; nil where nothing, and then only this machine's own are taken.
    public let token: LinkToken?
    /// Where legacy senders may be, where there is a token.
    public let legacySenders: [AddressRange]

    /// Takes captures with `token`, and legacy senders from `legacySenders`.
    public init(token: LinkToken? = nil, legacySenders: [AddressRange] = []) {
        self.token = token
        self.legacySenders = legacySenders
    }

    /// The check of one connection.
    public func check() -> CaptureCheck? {
        var generator = SystemRandomNumberGenerator()
        return token.map { CaptureCheck(token: $0.bytes, nonce: LinkProof.nonce(using: &generator)) }
    }

    /// Whether a legacy sender is taken whose address is `remote`.
    func takesLegacySender(at remote: String?) -> Bool {
        guard let remote else { return false }
        return legacySenders.contains { $0.contains(remote) }
    }
}
