import MediaTypes
import STUN

/// The session of this loop that each peer address belongs to. It holds only addresses that a check came from.
///
/// A check proves who made it, but not which address it comes from: anybody can forge a datagram's source address. So
/// an address definitely belongs to a session only once its peer has answered there. Until then, another session whose
/// peer answers there can take it. That is the same for sessions of other loops, whose UDP addresses are in
/// ``LoopsByAddress``; the numbers of TCP connections are never those of two loops.
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

    private struct Place {
        let session: PeerSession
        /// What other loops know.
        var known = AddressReservation()
    }

    private var places: [TransportAddress: Place] = [:]
    /// The addresses of all loops; nil if there is only one loop.
    private let allLoops: LoopsByAddress?
    private let loop: Int

    /// The addresses of the sessions of `loop`, which are in `shared` as well.
    init(sharedIn shared: LoopsByAddress? = nil, by loop: Int = 0) {
        allLoops = shared
        self.loop = loop
    }

    /// The session at `address`; nil if there is none.
    subscript(address: TransportAddress) -> PeerSession? { places[address]?.session }

    /// Whether a check or an answer from `address` makes that address `session`'s.
    func claim(_ address: TransportAddress, for session: PeerSession, now: MonotonicTime) -> Claim {
        if let claim = table(of: address)?.claim(address, in: loop, now: now) { return claim }
        guard let holder = places[address]?.session, holder !== session else { return .granted }
        // Nobody else can be at the other end of a TCP connection.
        if address.connection != 0 { return .refused }
        return holder.reservation(of: address).claim(now: now)
    }

    /// Has what comes from `address` reach this loop, if nothing else is known of the address, while `session` handles
    /// what may be its peer's: the peer may answer the response before ``note(_:of:now:)``.
    func expect(_ address: TransportAddress, of session: PeerSession) {
        table(of: address)?.assignIfFree(address, to: session.id, in: loop)
    }

    /// Ends the effect of ``expect(_:of:)``, if the address hasn't become the session's.
    func expectNoMore(_ address: TransportAddress, of session: PeerSession) {
        if places[address]?.session !== session { table(of: address)?.free(address, of: session.id) }
    }

    /// Assigns `address` to `session`.
    mutating func note(_ address: TransportAddress, of session: PeerSession, now: MonotonicTime) {
        if let givenUp = session.ice.learnRemoteAddress(address, now: now) { free(givenUp, of: session) }
        forgetGivenUp(of: session)
        let reservation = session.reservation(of: address)
        // Another loop's session may have been heard there since the claim.
        let isAssigned = table(of: address)?.assign(address, to: session.id, in: loop, reservation, now: now) ?? true
        if isAssigned {
            places[address] = Place(session: session, known: reservation)
        } else if places[address]?.session === session {
            places[address] = nil
        }
    }

    /// Has other loops know that `session` was heard at `address`.
    mutating func heard(_ session: PeerSession, at address: TransportAddress) {
        guard let table = table(of: address), let place = places[address], place.session === session else { return }
        let reservation = session.reservation(of: address)
        guard reservation.differs(from: place.known) else { return }
        if table.extend(address, of: session.id, reservation) {
            places[address]?.known = reservation
        } else {
            places[address] = nil
        }
    }

    /// Frees the addresses that `session` has given up to make room for others.
    mutating func forgetGivenUp(of session: PeerSession) {
        for address in session.ice.takeGivenUpAddresses() { free(address, of: session) }
    }

    /// Frees an address that leads nowhere any more. Returns its session.
    mutating func forget(_ address: TransportAddress) -> PeerSession? {
        guard let session = places[address]?.session else { return nil }
        free(address, of: session)
        return session
    }

    /// Frees the addresses of `session`, which has ended.
    mutating func remove(_ session: PeerSession) {
        for address in session.ice.addresses { free(address, of: session) }
    }

    private mutating func free(_ address: TransportAddress, of session: PeerSession) {
        if places[address]?.session === session { places[address] = nil }
        table(of: address)?.free(address, of: session.id)
    }

    private func table(of address: TransportAddress) -> LoopsByAddress? {
        address.connection == 0 ? allLoops : nil
    }
}
