import MediaSessions
import MediaTypes
import STUN

/// The sessions of the media thread. They are found by identifier, by the user name fragments that checks name, by
/// their peers' addresses, and by the time at which something is due for them.
///
/// Sans-IO. Belongs to the media thread.
final class SessionTable {
    /// When sessions that peers have asked for, and that aren't connected, make room for others.
    struct HalfOpenLimits: Sendable {
        /// How many there may be, in all loops together. A handshake takes up to 65 KB. Beyond the limit, the oldest
        /// one makes room, since refusals would let peers that never finish keep viewers out.
        var count = 512
        /// How long each has to connect even if there are more. Only a bad path takes longer, so hundreds of viewers
        /// that join at once don't end each other's sessions.
        var time = Interval.seconds(2)
    }

    private var sessions: [MediaSessionID: PeerSession] = [:]
    private var onEnd: [MediaSessionID: @Sendable (SessionEnd) -> Void] = [:]
    private var byUfrag: [String: PeerSession] = [:]
    private var byPeer: SessionsByAddress
    /// Each session at the index that is its ``PeerSession/slot``; nil at free ones.
    private var slots: [PeerSession?] = []
    private var freeSlots: [Int] = []
    private var deadlines = DeadlineQueue()
    /// The sessions that peers have asked for and when, the oldest first; connected ones may be left out.
    private var arrived: [(session: PeerSession, time: MonotonicTime)] = []
    private let halfOpenLimits: HalfOpenLimits

    /// The sessions of `loop`, whose addresses are in `shared` as well if there are other loops. `halfOpenLimits` are
    /// this loop's own.
    init(sharing shared: LoopsByAddress? = nil, by loop: Int = 0, halfOpenLimits: HalfOpenLimits) {
        byPeer = SessionsByAddress(sharedIn: shared, by: loop)
        self.halfOpenLimits = halfOpenLimits
    }

    var all: Dictionary<MediaSessionID, PeerSession>.Values { sessions.values }

    subscript(id: MediaSessionID) -> PeerSession? { sessions[id] }

    /// The session at `address`; nil if there is none.
    subscript(address: TransportAddress) -> PeerSession? { byPeer[address] }

    /// Adds a session. When it is over, `callback` is to be called with the reason.
    func add(
        _ session: PeerSession, now: MonotonicTime, onEnd callback: @escaping @Sendable (SessionEnd) -> Void
    ) {
        sessions[session.id] = session
        for ufrag in session.ice.localUfrags { byUfrag[ufrag] = session }
        onEnd[session.id] = callback
        if let slot = freeSlots.popLast() {
            session.slot = slot
            slots[slot] = session
        } else {
            session.slot = slots.count
            slots.append(session)
        }
        // A session with a server is one that the host has asked for.
        if !session.ice.isControlling { arrived.append((session, now)) }
    }

    /// The oldest session that isn't connected, if there are too many of them and it has had its time; it is to be
    /// closed and removed.
    func takeSuperfluous(now: MonotonicTime) -> PeerSession? {
        guard arrived.count > halfOpenLimits.count else { return nil }
        arrived.removeAll { $0.session.isConnected }
        guard arrived.count > halfOpenLimits.count, now - arrived[0].time >= halfOpenLimits.time else { return nil }
        return arrived.removeFirst().session
    }

    /// Removes a session, and returns the callback to call with the reason.
    func remove(_ session: PeerSession) -> (@Sendable (SessionEnd) -> Void)? {
        sessions[session.id] = nil
        for ufrag in session.ice.localUfrags { byUfrag[ufrag] = nil }
        byPeer.remove(session)
        arrived.removeAll { $0.session === session }
        if slots[session.slot] === session {
            deadlines.remove(session.slot)
            slots[session.slot] = nil
            freeSlots.append(session.slot)
        }
        return onEnd.removeValue(forKey: session.id)
    }

    /// Notes that something other than STUN has come from `address` for `session`.
    func heard(_ session: PeerSession, at address: TransportAddress) { byPeer.heard(session, at: address) }

    // MARK: Deadlines

    /// The time at which something is due for a session.
    var deadline: MonotonicTime { deadlines.earliest }

    /// Takes up the session's deadline, which has changed, or its end, which is due at once. Ignored for a session that
    /// was removed.
    func reschedule(_ session: PeerSession) {
        guard slots[session.slot] === session else { return }
        deadlines.set(session.end == nil ? session.deadline : .zero, for: session.slot)
    }

    /// The sessions for which something is due. Each must be rescheduled or removed.
    func takeDue(now: MonotonicTime) -> [PeerSession] {
        var due: [PeerSession] = []
        while let slot = deadlines.takeFirst(dueBy: now) {
            if let session = slots[slot] { due.append(session) }
        }
        return due
    }

    /// Restarts ICE for a session; an unknown identifier is ignored.
    func restartICE(_ id: MediaSessionID, with agent: ICEAgent) {
        guard let session = sessions[id] else { return }
        changeUfrags(of: session) { session.ice.restart(with: agent) }
    }

    /// Whether other sessions' peers are at all addresses of a server's that the user chose. A server with one UDP port
    /// for all its sessions can't tell two of our sessions apart either: they come from one port as well.
    func areAllAddressesTaken(_ session: PeerSession, now: MonotonicTime) -> Bool {
        session.ice.areAllAddressesTaken { byPeer.claim($0, for: session, now: now) == .refused }
    }

    /// Ends what leads to `address`, a TCP connection that is closed. Returns the session whose it was.
    func connectionClosed(_ address: TransportAddress, now: MonotonicTime) -> PeerSession? {
        guard let session = byPeer.forget(address) else { return nil }
        session.connectionClosed(address, now: now)
        return session
    }

    /// Handles a STUN message that came along `path`. Returns the session that the message was for, if any.
    func handle(_ message: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> PeerSession? {
        switch message.messageClass {
        case .request: return handleCheck(message, along: path, now: now)
        case .success: return handleResponse(message, along: path, now: now)
        case .error:
            let session = sessions[SelectedPair.session(of: message.transactionID)]
            session?.handle(error: message, along: path, now: now)
            return session
        case .indication: return nil
        }
    }

    private func handleCheck(_ check: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> PeerSession? {
        guard let ufrag = ICEAgent.localUfrag(of: check), let session = byUfrag[ufrag] else { return nil }
        // If the address is taken by another session's peer, the check gets no response at all. An error would fail the
        // pair at once (RFC 8445 section 7.2.5.2.4), whereas a peer whose address will soon be free tries again.
        let claim = byPeer.claim(path.peer, for: session, now: now)
        guard claim != .refused else { return nil }
        byPeer.expect(path.peer, of: session)
        let isGenuine = changeUfrags(of: session) {
            session.handle(check, along: path, isReplied: claim == .granted, now: now)
        }
        if isGenuine, claim == .granted { byPeer.note(path.peer, of: session, now: now) }
        byPeer.forgetGivenUp(of: session)
        byPeer.expectNoMore(path.peer, of: session)
        return session
    }

    /// Handles a peer's response to one of our requests. The address then belongs to that peer's session, unless
    /// another session's peer has already answered there.
    private func handleResponse(
        _ response: STUNMessage, along path: NetworkPath, now: MonotonicTime
    ) -> PeerSession? {
        guard let session = sessions[SelectedPair.session(of: response.transactionID)],
            byPeer.claim(path.peer, for: session, now: now) != .refused
        else { return nil }
        byPeer.expect(path.peer, of: session)
        defer { byPeer.expectNoMore(path.peer, of: session) }
        guard session.handle(response: response, along: path, now: now) else { return nil }
        byPeer.note(path.peer, of: session, now: now)
        return session
    }

    /// Runs `change`, then makes `session` findable by its new user name fragments only.
    @discardableResult
    private func changeUfrags<Result>(of session: PeerSession, by change: () -> Result) -> Result {
        let before = session.ice.localUfrags
        let result = change()
        let after = session.ice.localUfrags
        if before != after {
            for ufrag in before { byUfrag[ufrag] = nil }
            for ufrag in after { byUfrag[ufrag] = session }
        }
        return result
    }
}
