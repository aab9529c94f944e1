import MediaTypes
import STUN

/// Whose datagrams come from which address: only addresses that a check came from stand here.
///
/// A check proves who made it, and not where it comes from: anybody can write another sender into a datagram. So an address is
/// a session's beyond doubt only once its peer has answered there; until then it goes to whoever does.
///
/// Sans-IO. Belongs to the media thread.
struct PeerAddresses {
    /// What a check from an address is worth for its session.
    enum Claim {
        /// The address becomes the session's.
        case granted
        /// Another session's handshake goes on there: it becomes this session's once its peer has answered there.
        case undecided
        /// Another session's peer has answered there, and was heard there lately.
        case refused
    }

    private var sessions: [TransportAddress: PeerSession] = [:]

    /// Who is at `address`; nil where nobody is.
    subscript(address: TransportAddress) -> PeerSession? { sessions[address] }

    /// Whether a check from `address`, or an answer, makes it `session`'s.
    func claim(_ address: TransportAddress, for session: PeerSession, now: MonotonicTime) -> Claim {
        guard let holder = sessions[address], holder !== session else { return .granted }
        if holder.isHeard(at: address, now: now) { return .refused }
        return holder.shakesHands(at: address, now: now) ? .undecided : .granted
    }

    /// `address` is `session`'s.
    mutating func note(_ address: TransportAddress, of session: PeerSession, now: MonotonicTime) {
        if let givenUp = session.note(address, now: now), sessions[givenUp] === session { sessions[givenUp] = nil }
        forgetGivenUp(of: session)
        if sessions[address] !== session { sessions[address] = session }
    }

    /// Frees the addresses that `session` has given up for others.
    mutating func forgetGivenUp(of session: PeerSession) {
        for address in session.takeGivenUpAddresses() where sessions[address] === session { sessions[address] = nil }
    }

    /// Frees the addresses of `session`, which is over.
    mutating func remove(_ session: PeerSession) {
        for address in session.addresses where sessions[address] === session { sessions[address] = nil }
    }

    mutating func removeAll() { sessions.removeAll() }
}
