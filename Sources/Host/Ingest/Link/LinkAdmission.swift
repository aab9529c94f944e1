public import CaptureLink
public import LinkTransport

/// Decides whose pictures a host accepts on its TCP port.
///
/// It accepts captures that prove that they have the host's token. Legacy senders, which can't prove it, are accepted
/// from the addresses that the host's owner lists.
public struct LinkAdmission: Sendable {
    /// The token that captures must have; if nil, only captures on this machine are accepted.
    public let token: LinkToken?
    /// The addresses from which legacy senders are accepted. Used only if `token` is set.
    public let legacySenders: [AddressRange]

    /// Accepts captures that have `token`, and legacy senders from `legacySenders`.
    public init(token: LinkToken? = nil, legacySenders: [AddressRange] = []) {
        self.token = token
        self.legacySenders = legacySenders
    }

    /// Returns a check for one connection; nil if no token is needed.
    public func check() -> CaptureCheck? {
        var generator = SystemRandomNumberGenerator()
        return token.map { CaptureCheck(token: $0.bytes, nonce: LinkProof.nonce(using: &generator)) }
    }

    /// Returns whether a legacy sender at the address `remote` is accepted.
    func takesLegacySender(at remote: String?) -> Bool {
        guard let remote else { return false }
        return legacySenders.contains { $0.contains(remote) }
    }
}

extension Hello {
    /// Why a host ends the connection of a peer that introduces itself so; nil if it doesn't.
    var refusal: (EndReason, String)? {
        if version < 1 {
            return (.versionMismatch, "this host speaks version \(Hello.currentVersion) of the capture link")
        }
        return role == .host ? (.protocolError, "two hosts can't be linked to each other") : nil
    }
}
