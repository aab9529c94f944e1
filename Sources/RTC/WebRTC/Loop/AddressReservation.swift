import MediaTypes

/// How long an address stays a session's against the claims of others, by what was heard from there so far.
struct AddressReservation: Sendable {
    /// Until then, no other session gets the address: the peer has answered there, and was heard there.
    var heardUntil = MonotonicTime.zero
    /// Until then, the session's handshake is in progress there.
    var handshakingUntil = MonotonicTime.zero

    /// What another session's claim to the address results in.
    func claim(now: MonotonicTime) -> SessionsByAddress.Claim {
        if now < heardUntil { return .refused }
        return now < handshakingUntil ? .undecided : .granted
    }
}
