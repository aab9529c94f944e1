import MediaTypes

/// How long an address stays a session's against the claims of others, by what was heard from there so far.
struct AddressReservation: Sendable {
    /// Until then, no other session gets the address: the peer has answered there, and was heard there.
    var heardUntil = MonotonicTime.zero
    /// Until then, the session's handshake is in progress there.
    var handshakingUntil = MonotonicTime.zero

    /// Whether another loop that knows `known` needs to be told: a time differs by a second or more. This bounds the
    /// updates to one per second, and an address is free for another loop's sessions up to a second early.
    func differs(from known: AddressReservation) -> Bool {
        func isFar(_ time: MonotonicTime, _ other: MonotonicTime) -> Bool {
            max(time - other, other - time) >= .seconds(1)
        }
        return isFar(heardUntil, known.heardUntil) || isFar(handshakingUntil, known.handshakingUntil)
    }

    /// What another session's claim to the address results in.
    func claim(now: MonotonicTime) -> SessionsByAddress.Claim {
        if now < heardUntil { return .refused }
        return now < handshakingUntil ? .undecided : .granted
    }
}
