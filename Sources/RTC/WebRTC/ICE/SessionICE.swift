import MediaSessions
import MediaTypes
import STUN
import SecureTransport

/// The ICE part of a session: credentials, the addresses that the peer was heard at, and the path to it.
///
/// Sans-IO. Belongs to the media thread.
struct SessionICE {
    /// For this long after the peer was last heard at an address, no other session can take that address.
    ///
    /// Peers send checks about every 5 s, and every 6 s at the latest (RFC 7675 section 5.1); aioice does so, and
    /// Chromium sends them every 2.5 s. So at least one check may be lost, usually two. A new peer that gets the port
    /// of a killed one must wait this long. Chromium gives up its checks after 15 s, so the time may not be longer. It
    /// is half of the 30 s after which consent expires.
    static let addressReservation = Interval.seconds(15)
    /// The maximum number of addresses kept for one peer: a few interfaces, and a few changes of a NAT's mapping.
    static let addressLimit = 16

    /// The path to the peer.
    var selectedPair: SelectedPair
    /// The time at which the peer was last heard anywhere.
    private(set) var lastHeard: MonotonicTime

    /// The credentials of the current ICE generation.
    private var agent: ICEAgent
    /// The generation before an ICE restart, until the peer has nominated a path with the new one.
    private var formerAgent: ICEAgent?
    /// The addresses that the peer's checks came from, with the time of the last check; sorted so that the most recent
    /// is last.
    private var remoteAddresses: [RemoteAddress] = []
    /// The addresses that were given up since the last ``takeGivenUpAddresses()``.
    private var givenUp: [TransportAddress] = []
    /// The time at which the peer was last heard at the address of ``selectedPair``.
    private var lastHeardOnPath: MonotonicTime
    private var checks: CheckList
    private var nomination: Nomination
    private let session: MediaSessionID

    private struct RemoteAddress {
        let address: TransportAddress
        var checked: MonotonicTime
        /// Whether the peer has answered at this address.
        var isValid = false
    }

    init(_ parameters: SessionParameters, now: MonotonicTime) {
        agent = ICEAgent(
            localUfrag: parameters.localUfrag, localPassword: parameters.localPassword,
            remoteUfrag: parameters.remoteUfrag, remotePassword: parameters.remotePassword, role: parameters.iceRole)
        session = parameters.id
        selectedPair = SelectedPair(of: session)
        checks = CheckList(of: session)
        nomination = Nomination(of: session)
        lastHeard = now
        lastHeardOnPath = now
        add(parameters.candidates, now: now)
    }

    // MARK: Checks and responses

    /// Handles a check that names our user name fragment.
    ///
    /// | our role | the check | then |
    /// | --- | --- | --- |
    /// | controlling | any | the address is checked in turn, until a path is nominated (RFC 8445 section 7.3.1.4) |
    /// | lite or controlled | isn't replied to | the peer is asked whether it receives at the address |
    /// | lite or controlled | is replied to | the path may become the session's (``SelectedPair``) |
    ///
    /// - Parameter isReplied: as in ``PeerSession/handle(_:along:isReplied:now:)``.
    /// - Returns: the reply to send, if any, and whether the peer made the check.
    mutating func take(
        _ check: STUNMessage, along path: NetworkPath, isReplied: Bool, now: MonotonicTime
    ) -> (reply: [UInt8]?, isGenuine: Bool) {
        var generation = generation(of: check)
        guard let reply = generation.reply(to: check, from: path.peer, hmac: Authentication.hmacSHA1) else {
            return (nil, false)
        }
        let datagram = isReplied ? reply.datagram : nil
        guard case .valid(let nominated) = reply.verdict else { return (datagram, false) }
        if reply.yieldsRole { changeRole(now: now) }
        generation.role = agent.role
        if let address = learnRemoteAddress(path.peer, now: now) { givenUp.append(address) }
        if isControlling {
            if !nomination.isComplete {
                checks.trigger(RemoteCandidate(address: path.peer, priority: check.priority ?? 0), now: now)
            }
        } else if isReplied {
            let isKnown = remoteAddresses.contains { $0.address == path.peer && $0.isValid }
            selectedPair.checked(along: path, nominated: nominated, by: generation, isKnown: isKnown, now: now)
            // The peer has nominated a path with the credentials of the last restart.
            if nominated, generation.localUfrag == agent.localUfrag { formerAgent = nil }
        } else {
            selectedPair.queueCheck(path, by: generation, now: now)
            return (nil, true)
        }
        noteHeard(at: path.peer, now: now)
        return (datagram, true)
    }

    /// The credentials that a check names: of the current ICE generation, or of the one before a restart. The role
    /// outlives a generation, and may have changed since.
    private func generation(of check: STUNMessage) -> ICEAgent {
        let ufrag = ICEAgent.localUfrag(of: check)
        guard var former = formerAgent, former.localUfrag == ufrag else { return agent }
        former.role = agent.role
        return former
    }

    /// Handles a response to one of our requests. Returns true if it proves that the peer is at the other end of
    /// `path`.
    mutating func take(response: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        if selectedPair.take(response, along: path, now: now) {
            noteValid(at: path.peer, now: now)
        } else if let candidate = checks.take(response, along: path, by: agent) {
            selectedPair.addValidPair(path, by: agent, now: now)
            if isControlling {
                let isBest = !checks.hasBetter(than: candidate.priority)
                nomination.add(path, priority: candidate.priority, isBest: isBest, now: now)
            }
            if let address = learnRemoteAddress(path.peer, now: now) { givenUp.append(address) }
            noteValid(at: path.peer, now: now)
        } else if nomination.take(response, along: path, by: agent) {
            selectedPair.addValidPair(path, nominated: true, by: agent, now: now)
            checks.restart()
            noteValid(at: path.peer, now: now)
        } else {
            return false
        }
        return true
    }

    /// Handles an error response, of which one kind matters: the peer claims our role (RFC 8445 section 7.2.5.1).
    mutating func take(error: STUNMessage, along path: NetworkPath, now: MonotonicTime) {
        guard agent.role != .lite,
            checks.isConflict(error, along: path, by: agent) || nomination.isConflict(error, along: path, by: agent)
        else { return }
        changeRole(now: now)
    }

    /// Our user name fragments (ufrag): the current one and, during an ICE restart, the former one.
    var localUfrags: [String] { [agent.localUfrag] + (formerAgent.map { [$0.localUfrag] } ?? []) }

    /// Restarts ICE (RFC 8445 section 9). Everything else continues on the old path until the peer nominates a path
    /// with the credentials of `agent`.
    ///
    /// If another restart comes before that, the credentials of the first restart are dropped, and those from before it
    /// stay valid.
    mutating func restart(with agent: ICEAgent) {
        let role = self.agent.role
        formerAgent = formerAgent ?? self.agent
        self.agent = agent
        self.agent.role = role
        checks.restart()
        nomination = Nomination(of: session)
    }

    // MARK: Checks of our own

    /// Whether we choose the path.
    var isControlling: Bool {
        if case .controlling = agent.role { true } else { false }
    }

    /// Checks `candidates` of the peer's. This machine itself is checked only for a peer that the user chose: no other
    /// peer may make the host send to services that only this machine can reach.
    mutating func add(_ candidates: [RemoteCandidate], now: MonotonicTime) {
        guard !nomination.isComplete else { return }
        checks.add(candidates.filter { agent.role != .lite || !$0.address.isLoopback }, now: now)
    }

    /// Whether we look for the peer in vain: `isTaken` holds for all addresses that it has named.
    func areAllAddressesTaken(_ isTaken: (TransportAddress) -> Bool) -> Bool {
        isControlling && !nomination.isComplete && checks.areAll(isTaken)
    }

    /// The time at which ``takeDue(now:admits:)`` next returns something.
    var deadline: MonotonicTime { min(selectedPair.deadline, checks.deadline, nomination.deadline) }

    /// The requests to send now. `admits` returns whether one may be sent to a candidate of a peer that the user didn't
    /// choose.
    mutating func takeDue(now: MonotonicTime, admits: () -> Bool) -> [(datagram: [UInt8], path: NetworkPath)] {
        var due = selectedPair.takeDue(now: now)
        if let check = checks.takeDue(now: now), agent.role != .lite || admits() {
            let path = NetworkPath(peer: check.peer, local: .unspecified(check.peer.family))
            due.append((request(check.id), path))
        }
        if isControlling, let request = nomination.takeDue(now: now) {
            due.append((self.request(request.id, nominates: true), request.path))
        }
        return due
    }

    private func request(_ id: STUNMessage.TransactionID, nominates: Bool = false) -> [UInt8] {
        agent.request(id, nominates: nominates, hmac: Authentication.hmacSHA1)
    }

    /// Whether our handshake may begin on the path: the peer has answered there and, if we begin, knows that the path
    /// is chosen, since some peers drop earlier datagrams.
    func mayBegin(asClient isClient: Bool, now: MonotonicTime) -> Bool {
        selectedPair.consented(now: now) != nil && (!isClient || !isControlling || nomination.isComplete)
    }

    /// Switches to the other role, with a new tie-breaker.
    private mutating func changeRole(now: MonotonicTime) {
        switch agent.role {
        case .lite: return
        case .controlling: agent.role = .controlled(tieBreaker: SecureRandom.uint64())
        case .controlled: agent.role = .controlling(tieBreaker: SecureRandom.uint64())
        }
        nomination = Nomination(of: session)
        checks.renew(now: now)
        selectedPair.changeRole(to: agent)
    }

    // MARK: Addresses

    /// The addresses that the peer's checks came from.
    var addresses: [TransportAddress] { remoteAddresses.map(\.address) }

    /// Records that one of the peer's checks came from `address`.
    ///
    /// - Returns: an address that is given up to make room, if any. A peer can forge the source addresses of its
    ///   checks, which must not fill our memory.
    mutating func learnRemoteAddress(_ address: TransportAddress, now: MonotonicTime) -> TransportAddress? {
        var entry = RemoteAddress(address: address, checked: now)
        if let index = remoteAddresses.firstIndex(where: { $0.address == address }) {
            entry.isValid = remoteAddresses.remove(at: index).isValid
        }
        remoteAddresses.append(entry)
        guard remoteAddresses.count > Self.addressLimit else { return nil }
        let current = selectedPair.current?.peer
        let unused = { (entry: RemoteAddress) in
            entry.address != current && entry.address != address
        }
        guard
            let index = remoteAddresses.firstIndex(where: { !$0.isValid && unused($0) })
                ?? remoteAddresses.firstIndex(where: unused)
        else { return nil }
        return remoteAddresses.remove(at: index).address
    }

    /// Forgets `address`, a TCP connection that is closed. Until the peer is heard along another path, there is none.
    mutating func removeAddress(_ address: TransportAddress) {
        remoteAddresses.removeAll { $0.address == address }
        selectedPair.removeAddress(address)
    }

    /// The addresses that were given up to make room since the last call; clears the list.
    mutating func takeGivenUpAddresses() -> [TransportAddress] {
        defer { givenUp.removeAll() }
        return givenUp
    }

    /// Records that something authenticated has arrived from the peer at `address`.
    mutating func noteHeard(at address: TransportAddress, now: MonotonicTime) {
        lastHeard = now
        if address == selectedPair.current?.peer { lastHeardOnPath = now }
    }

    /// Records that the peer has answered at `address`.
    mutating func noteValid(at address: TransportAddress, now: MonotonicTime) {
        for index in remoteAddresses.indices where remoteAddresses[index].address == address {
            remoteAddresses[index].isValid = true
        }
        noteHeard(at: address, now: now)
    }

    /// Records that the handshake is complete, after a flight from `address` or, if that is nil, after a timeout.
    mutating func noteConnected(from address: TransportAddress?, now: MonotonicTime) {
        lastHeard = now
        checks.settle()
        if let address, selectedPair.handshakeEnded(from: address, now: now) { noteValid(at: address, now: now) }
    }

    /// Until when no other session can take `address`: the peer has answered there, and was heard there by a check or,
    /// on the current path, by anything authenticated. Time zero if the peer has not answered there.
    func reservedUntil(_ address: TransportAddress) -> MonotonicTime {
        guard let entry = remoteAddresses.first(where: { $0.address == address }), entry.isValid else { return .zero }
        let isOnPath = address == selectedPair.current?.peer
        return (isOnPath ? lastHeardOnPath : entry.checked) + Self.addressReservation
    }
}
