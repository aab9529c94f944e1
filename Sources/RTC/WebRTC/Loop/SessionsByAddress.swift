import MediaTypes
import STUN

/// The session that each peer address belongs to. It holds only addresses that a check came from.
///
/// A check proves who made it, but not which address it comes from: anybody can forge a datagram's source address. So
/// an address definitely belongs to a session only once its peer has answered there. Until then, another session whose
/// peer answers there can take it.
///
/// Sans-IO. Belongs to the media thread.
struct SessionsByAddress {
    /// The result of a session's claim to an address.
    enum Claim {
        /// The address becomes the session's.
        case granted
        /// Another session's handshake is in progress there. The address becomes this session's once its peer has
        /// answered there.
        case undecided
        /// Another session's peer has answered there and was heard from there recently.
        case refused
    }

    private var sessions: [TransportAddress: PeerSession] = [:]

    /// The session at `address`; nil if there is none.
    subscript(address: TransportAddress) -> PeerSession? { sessions[address] }

    /// Whether a check or an answer from `address` makes that address `session`'s.
    func claim(_ address: TransportAddress, for session: PeerSession, now: MonotonicTime) -> Claim {
        guard let holder = sessions[address], holder !== session else { return .granted }
        // Nobody else can be at the other end of a TCP connection.
        if address.connection != 0 { return .refused }
        return holder.reservation(of: address).claim(now: now)
    }

    /// Assigns `address` to `session`.
    mutating func note(_ address: TransportAddress, of session: PeerSession, now: MonotonicTime) {
        if let givenUp = session.ice.learnRemoteAddress(address, now: now), sessions[givenUp] === session {
            sessions[givenUp] = nil
        }
        forgetGivenUp(of: session)
        if sessions[address] !== session { sessions[address] = session }
    }

    /// Frees the addresses that `session` has given up to make room for others.
    mutating func forgetGivenUp(of session: PeerSession) {
        for address in session.ice.takeGivenUpAddresses() where sessions[address] === session {
            sessions[address] = nil
        }
    }

    /// Frees an address that leads nowhere any more. Returns its session.
    mutating func forget(_ address: TransportAddress) -> PeerSession? { sessions.removeValue(forKey: address) }

    /// Frees the addresses of `session`, which has ended.
    mutating func remove(_ session: PeerSession) {
        for address in session.ice.addresses where sessions[address] === session { sessions[address] = nil }
    }
}
