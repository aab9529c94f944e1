import MediaTypes
import STUN

/// Whose datagrams come from which address: only addresses that a check has proved stand here.
///
/// Sans-IO. Belongs to the media thread.
struct PeerAddresses {
    private var sessions: [TransportAddress: PeerSession] = [:]

    /// Who is at `address`; nil where nobody is.
    subscript(address: TransportAddress) -> PeerSession? { sessions[address] }

    /// Whether a check from `address` may make it `session`'s.
    ///
    /// A check proves who sends it, and not from where: the sender's address of a datagram can be written by anybody. Who is let
    /// in could so take the datagrams of another peer. What is heard of a session at an address keeps it for that session.
    func isFree(_ address: TransportAddress, for session: PeerSession, now: MonotonicTime) -> Bool {
        guard let holder = sessions[address], holder !== session else { return true }
        return !holder.isHeard(at: address, now: now)
    }

    /// A check has proved that `session` is at `address`.
    mutating func note(_ address: TransportAddress, of session: PeerSession, now: MonotonicTime) {
        if let givenUp = session.note(address, now: now), sessions[givenUp] === session { sessions[givenUp] = nil }
        if sessions[address] !== session { sessions[address] = session }
    }

    /// Frees the addresses of `session`, which is over.
    mutating func remove(_ session: PeerSession) {
        for address in session.addresses where sessions[address] === session { sessions[address] = nil }
    }

    mutating func removeAll() { sessions.removeAll() }
}
