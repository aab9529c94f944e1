import CongestionControl
import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import Threading

/// A session with one peer: ICE, then DTLS, then SRTP, each layer knowing only the one below.
///
/// Sans-IO: it takes datagrams, pictures and the time, and sends datagrams to the sink. ``deadline`` is the time of the
/// next call, and ``end`` is set when the session is over. Belongs to the media thread.
final class PeerSession {
    /// If a viewer is heard but answers none of our requests for this long, its session ends; its media has stopped by
    /// then (``SelectedPair/consentTimeout``). The viewer notices the end and can join again. This is longer than
    /// ``SessionRole/timeout`` plus one round of requests, so that a viewer who returns in time can still answer.
    private static let answerTimeout = Interval.seconds(40)

    let id: MediaSessionID
    /// The direction of the session's media.
    let role: SessionRole
    /// The peer's addresses, and the path to it.
    // Not checked at run time for overlapping accesses, which would take 3 % of the time of a thread with many viewers.
    @exclusivity(unchecked) var ice: SessionICE
    /// The reason that the session is over; nil while it isn't.
    private(set) var end: SessionEnd?
    /// The time at which ``advance(now:)`` must be called even if nothing arrives.
    private(set) var deadline: MonotonicTime
    /// The part of ``deadline`` that doesn't concern media: ICE, the handshake, and the peer's silence.
    private var connectionDeadline = MonotonicTime.zero
    /// Whether the session is connected, so that media can flow.
    var isConnected: Bool { connectedAt != nil }

    private var connectedAt: MonotonicTime?
    /// How long the peer may be silent once it is connected, and who is told of that; nil leaves it to the role.
    private var keepalive: (timeout: Interval, onConnect: @Sendable () -> Void)?
    private let parameters: SessionParameters
    private let context: DTLSContext
    let sink: any DatagramSink
    let owner = ThreadOwner()
    @exclusivity(unchecked) private var handshake = SessionHandshake()
    private(set) var protector: SRTPSession?
    @exclusivity(unchecked) private var presence = ViewerPresence()
    @exclusivity(unchecked) var scratch: [UInt8] = []
    /// The address that media or reports were last sent to, and who is told of a change.
    private(set) var mediaAddress: TransportAddress?
    var onPath: (@Sendable (TransportAddress) -> Void)?
    /// Whether the session is in the queue of sessions that wait for room in the socket. Managed by the media loop.
    var isQueuedForRoom = false
    /// The session's small number among those that there are now. Managed by the table of sessions.
    var slot = 0

    init(
        _ parameters: SessionParameters, role: SessionRole, context: DTLSContext, sink: any DatagramSink,
        now: MonotonicTime
    ) {
        id = parameters.id
        self.parameters = parameters
        self.role = role
        self.context = context
        self.sink = sink
        ice = SessionICE(parameters, now: now)
        deadline = min(now + role.timeout, ice.deadline)
    }

    /// The tracks that the peer watches; nil if it publishes.
    var watched: WatchedTracks? {
        guard case .watching(let tracks) = role else { return nil }
        return tracks
    }

    // MARK: ICE

    /// Handles a check that names our user name fragment. Returns true if the peer made it.
    ///
    /// - Parameter isReplied: whether to answer the check. False if another session is in a handshake at this address:
    ///   the check is then not answered, and the host sends a request of its own; the session whose peer answers gets
    ///   the address.
    func handle(_ check: STUNMessage, along path: NetworkPath, isReplied: Bool = true, now: MonotonicTime) -> Bool {
        owner.check()
        guard end == nil else { return false }
        let (wasNominated, wasBegun) = (ice.selectedPair.isNominated, handshake.state != nil)
        let (reply, isGenuine) = ice.take(check, along: path, isReplied: isReplied, now: now)
        if let reply { _ = sink.send(reply, along: path) }
        guard isGenuine else { return false }
        if isReplied, !ice.isControlling, parameters.mayBegin(at: path.peer) { startHandshake(now: now) }
        if ice.selectedPair.isNominated, !wasNominated, wasBegun {
            handshake.repeatFirstFlight()
            flushHandshake(now: now)
        }
        advance(now: now)
        return true
    }

    /// Handles a response to one of our requests. Returns true if it proves that the peer is at the other end of
    /// `path`.
    func handle(response: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        owner.check()
        guard end == nil, ice.take(response: response, along: path, now: now) else { return false }
        if ice.mayBegin(asClient: parameters.isDTLSClient, now: now) { startHandshake(now: now) }
        advance(now: now)
        return true
    }

    /// Handles an error response to one of our requests.
    func handle(error: STUNMessage, along path: NetworkPath, now: MonotonicTime) {
        owner.check()
        ice.take(error: error, along: path, now: now)
        advance(now: now)
    }

    /// How long `address` stays the session's: while its peer, which has answered there, is heard there, and while its
    /// DTLS handshake is in progress there.
    func reservation(of address: TransportAddress) -> AddressReservation {
        guard end == nil else { return AddressReservation() }
        let isHandshaking = !isConnected && address == ice.selectedPair.current?.peer
        return AddressReservation(
            heardUntil: ice.reservedUntil(address),
            handshakingUntil: isHandshaking ? handshake.reservedUntil : .zero)
    }

    // MARK: Events

    /// Handles a datagram other than STUN, from an address that one of the peer's checks came from.
    ///
    /// - Parameter arrival: when the datagram arrived here. Since then it has waited for this thread, which is not the
    ///   path's delay.
    func handle(
        _ datagram: ArraySlice<UInt8>, kind: DatagramKind, from address: TransportAddress, arrival: MonotonicTime,
        now: MonotonicTime
    ) {
        owner.check()
        guard end == nil else { return }
        switch kind {
        case .dtls:
            guard handshake.state != nil else { return handshake.keep(datagram, from: address) }
            do {
                try handshake.handle(
                    datagram, isOnPath: address == ice.selectedPair.current?.peer, arrival: arrival, now: now)
            } catch {
                finish("DTLS: \(error)")
            }
            followHandshake(now: now, from: address)
        case .rtcp:
            handleRTCP(datagram, from: address, arrival: arrival, now: now)
            // Most reports change nothing that is due. What others make due is done once all datagrams that have come
            // are read: a thread that sent pictures in between would never get to the checks that keep sessions.
            if watched?.onlyHeard != true { deadline = min(deadline, now) }
            return
        case .rtp: handleRTP(datagram, from: address, arrival: arrival, now: now)
        case .stun, .other: break
        }
        advance(now: now)
    }

    /// Does everything that is due: sends pictures, probes and reports, and handles timers.
    func advance(now: MonotonicTime) {
        owner.check()
        guard end == nil else { return }
        let timeout = isConnected ? keepalive?.timeout ?? role.timeout : role.timeout
        if now - ice.lastHeard >= timeout {
            let whole = timeout.milliseconds / 1000
            let time = timeout == .seconds(whole) ? "\(whole)" : "\(timeout.seconds)"
            finish(
                isConnected
                    ? "the peer has been silent for \(time) s" : "no connectivity check from the peer within \(time) s")
            return
        }
        deadline = ice.lastHeard + timeout
        if watched != nil, let connectedAt {
            let answerDue = (ice.selectedPair.lastConsent ?? connectedAt) + Self.answerTimeout
            guard now < answerDue else {
                finish("no answer to consent checks for \(Self.answerTimeout.milliseconds / 1000) s")
                return
            }
            deadline = min(deadline, answerDue)
        }
        let sink = self.sink
        for request in ice.takeDue(now: now, admits: { sink.admitsCheck(now: now) }) {
            _ = sink.send(request.datagram, along: request.path)
        }
        deadline = min(deadline, ice.deadline)
        if !handshake.isComplete {
            if handshake.deadline(now: now) <= now {
                do {
                    try handshake.handleTimeout(now: now)
                } catch {
                    finish("DTLS: \(error)")
                }
                followHandshake(now: now)
            }
            deadline = min(deadline, handshake.deadline(now: now))
        }
        connectionDeadline = deadline
        sendMedia(now: now)
    }

    /// Does what new frames or reports make due: as ``advance(now:)``, but the connection is looked at only if
    /// something is due for it. A thousand sessions are in no cache, and each part that is looked at takes its time.
    func advanceMedia(now: MonotonicTime) {
        owner.check()
        let asks = watched != nil && presence.asks(lastHeard: ice.lastHeard, now: now)
        if asks { ice.selectedPair.ask(now: now) }
        guard end == nil, !asks, now < connectionDeadline else { return advance(now: now) }
        deadline = connectionDeadline
        sendMedia(now: now)
    }

    private func sendMedia(now: MonotonicTime) {
        guard protector != nil else { return }
        guard let path = ice.selectedPair.consented(now: now) else { return pathLost(now: now) }
        if path.peer != mediaAddress {
            pathChanged(to: path.peer)
            mediaAddress = path.peer
        }
        let sink = self.sink
        let next =
            switch role {
            case .watching(let tracks):
                tracks.advance(
                    presence.state(lastHeard: ice.lastHeard, roundTripTime: tracks.roundTripTime, now: now), now: now
                ) { sink.send($0, along: path) }
            case .publishing(let tracks): tracks.advance(now: now) { sink.send($0, along: path) }
            }
        deadline = min(deadline, next)
    }

    /// A viewer whose TCP connection is closed, or whose consent has run out, is gone until it has a path again.
    private func pathLost(now: MonotonicTime) {
        // Before its first path, it has missed nothing.
        guard mediaAddress != nil, let watched else { return }
        presence.pathLost()
        _ = watched.advance(.gone, now: now) { _ in true }
    }

    /// Ends the session from our side and notifies the peer.
    func close(now: MonotonicTime, reason: String = "closed") {
        owner.check()
        handshake.close()
        flushHandshake(now: now)
        finish(reason)
    }

    private func finish(_ reason: String) { finish(.other(reason)) }
    private func finish(_ end: SessionEnd) { if self.end == nil { self.end = end } }

    /// Asks the peer about once a second whether it is there, and ends once it has been silent for `timeout`. Calls
    /// `onConnect` when the session is connected.
    func enableKeepalive(timeout: Interval, onConnect: @escaping @Sendable () -> Void, now: MonotonicTime) {
        owner.check()
        keepalive = (timeout, onConnect)
        ice.selectedPair.requestInterval = .seconds(1)
        if isConnected { onConnect() }
        advance(now: now)
    }

    // MARK: DTLS

    private func startHandshake(now: MonotonicTime) {
        guard handshake.state == nil else { return }
        let address = ice.selectedPair.consented(now: now)?.peer
        do {
            try handshake.start(parameters, context: context, provedAddress: address, now: now)
        } catch {
            finish("DTLS: \(error)")
        }
        flushHandshake(now: now)
    }

    private func flushHandshake(now: MonotonicTime) {
        guard let path = ice.selectedPair.current else { return }
        for datagram in handshake.takeFlight(now: now) {
            _ = sink.send(datagram, along: path)
            ice.selectedPair.noteFlight()
        }
    }

    /// Acts on the handshake's progress after a datagram from `address` or after its timer.
    private func followHandshake(now: MonotonicTime, from address: TransportAddress? = nil) {
        flushHandshake(now: now)
        switch handshake.state {
        case .connected(let keys):
            guard !isConnected else { return handshake.takeLastFlightLoss() ? role.restart() : () }
            do {
                let protector = try SRTPSession(keys: keys)
                self.protector = protector
                switch role {
                case .watching(let tracks):
                    tracks.begin(parameters, protector: protector, roundTripTime: handshake.roundTripTime, now: now)
                case .publishing(let tracks):
                    tracks.begin(parameters, protector: protector, now: now)
                }
                connectedAt = now
                ice.noteConnected(from: address, now: now)
                keepalive?.onConnect()
            } catch {
                finish("SRTP: \(error)")
            }
        case .closed: finish(.byPeer)
        case .failed(let error): finish("DTLS: \(error)")
        case .handshaking, nil: break
        }
    }
}
