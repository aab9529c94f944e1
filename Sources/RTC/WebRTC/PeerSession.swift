import CongestionControl
public import MediaSessions
public import MediaTypes
import RTP
import STUN
import SecureTransport

/// A session with one peer: ICE-lite, then DTLS, then SRTP, each layer knowing only the one below.
///
/// Sans-IO: it takes datagrams, pictures and the time, and sends datagrams to the sink. ``deadline`` is the time of the
/// next call, and ``end`` is set when the session is over. Belongs to the media thread.
final class PeerSession {
    /// A peer that is silent for this long is gone (RFC 7675 section 5.1).
    static let patience = Interval.seconds(30)
    /// The same limit for a publisher, which sends pictures all the time; another one may be waiting for its place.
    static let publisherPatience = Interval.seconds(10)
    /// For this long after the peer was last heard at an address, no other session can take that address.
    ///
    /// Peers check about every 5 s, at least every 6 s (RFC 7675 section 5.1; so does aioice, and Chromium every 2.5
    /// s), so one check may be lost, usually two. A peer that gets the port of a killed one must wait this long.
    /// Chromium gives up its checks after 15 s, so it may not be longer. It is half of the 30 s after which consent
    /// expires.
    static let hold = Interval.seconds(15)
    /// The maximum number of addresses kept for one peer: a few interfaces, and a few changes of a NAT's mapping.
    static let addressLimit = 16

    /// If a viewer is heard but answers none of our requests for this long, its session ends; its media has stopped by
    /// then (``MediaPath/consent``). The viewer notices the end and can join again. This is longer than ``patience``
    /// plus one round of requests, so that a viewer who returns in time can still answer.
    private static let answerPatience = Interval.seconds(40)

    private static let longestEstimate = Interval.milliseconds(100)

    let id: MediaSessionID
    /// The track feed that the peer watches; nil if it publishes.
    let feed: TrackFeed?
    /// The highest chroma format that the peer decodes; it also decodes all lower ones.
    let decodes: ChromaFormat
    /// The credentials of the current ICE generation.
    private(set) var ice: LiteAgent
    /// The generation before an ICE restart, until the peer has nominated a path with the new one.
    private var formerICE: LiteAgent?
    /// The reason that the session is over; nil while it isn't.
    private(set) var end: String?
    /// The time at which ``advance(now:)`` must be called even if nothing arrives.
    private(set) var deadline: MonotonicTime
    /// Whether the session is connected, so that media can flow.
    var isConnected: Bool { connectedAt != nil }

    private var connectedAt: MonotonicTime?
    private let parameters: SessionParameters
    private let context: DTLSContext
    private let sink: any DatagramSink
    /// The publication that the peer sends; nil if it watches.
    private let publication: Publication?
    private var receiver: TrackReceiver?
    /// The sender, created only once the keys are established: it takes far more memory than an unanswered offer should
    /// cost.
    private var sender: TrackSender?
    private var path: MediaPath
    /// The addresses that the peer's checks came from, with the time of the last check; sorted so that the most recent
    /// is last.
    private var places: [Place] = []
    /// The addresses that were given up since the last ``takeGivenUpAddresses()``.
    private var givenUp: [TransportAddress] = []
    private var dtls: DTLSTransport?
    private var protector: SRTPSession?
    private var onPointerChange: ((PointerChange) -> Void)?
    private var flightSentAt: MonotonicTime?
    private var handshakeRoundTrip: Interval?
    private var lastHeard: MonotonicTime
    /// The time at which the peer was last heard at the address of `path`.
    private var lastHeardOnPath: MonotonicTime
    /// The time at which the last handshake datagram came from that address.
    private var lastHandshake: MonotonicTime?
    private var scratch: [UInt8] = []

    private struct Place {
        let address: TransportAddress
        var checked: MonotonicTime
        /// Whether the peer has answered at this address.
        var isProved = false
    }

    /// Creates a session whose peer watches `feed` or, if there is none, publishes `publication`.
    init(
        _ parameters: SessionParameters, feed: TrackFeed?, publication: Publication? = nil, context: DTLSContext,
        sink: any DatagramSink, now: MonotonicTime
    ) {
        id = parameters.id
        decodes = parameters.formats.decodes
        self.parameters = parameters
        self.feed = feed
        self.publication = publication
        self.context = context
        self.sink = sink
        ice = LiteAgent(
            localUfrag: parameters.localUfrag, localPassword: parameters.localPassword,
            remoteUfrag: parameters.remoteUfrag, remotePassword: parameters.remotePassword)
        path = MediaPath(of: parameters.id)
        lastHeard = now
        lastHeardOnPath = now
        deadline = now + (publication == nil ? Self.patience : Self.publisherPatience)
    }

    /// Handles a check that names our user name fragment. Returns true if the peer made it.
    ///
    /// - Parameter isReplied: whether to answer the check. False if another session is in a handshake at this address:
    ///   the check is then not answered, and the host sends a request of its own; the session whose peer answers gets
    ///   the address.
    func handle(_ check: STUNMessage, along path: NetworkPath, isReplied: Bool = true, now: MonotonicTime) -> Bool {
        let ufrag = LiteAgent.localUfrag(of: check)
        let agent = formerICE.flatMap { $0.localUfrag == ufrag ? $0 : nil } ?? ice
        guard end == nil,
            let reply = agent.reply(to: check, from: path.peer, hmac: { Authentication.hmacSHA1(key: $0, data: $1) })
        else { return false }
        if isReplied { _ = sink.send(reply.datagram, along: path) }
        guard case .valid(let nominated) = reply.verdict else { return false }
        if let address = note(path.peer, now: now) { givenUp.append(address) }
        guard isReplied else {
            self.path.ask(path, by: agent, now: now)
            advance(now: now)
            return true
        }
        let isKnown = places.contains { $0.address == path.peer && $0.isProved }
        self.path.checked(along: path, nominated: nominated, by: agent, isKnown: isKnown, now: now)
        noteHeard(at: path.peer, now: now)
        if nominated, agent.localUfrag == ice.localUfrag { formerICE = nil }
        if dtls == nil { startDTLS(now: now) }
        advance(now: now)
        return true
    }

    /// Handles a response to one of our requests. Returns true if it proves that the peer is at the other end of
    /// `path`.
    func handle(response: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        guard end == nil, self.path.take(response, along: path, now: now) else { return false }
        noteProof(at: path.peer)
        noteHeard(at: path.peer, now: now)
        advance(now: now)
        return true
    }

    /// Our user name fragments (ufrag): the current one and, during an ICE restart, the former one.
    var localUfrags: [String] { [ice.localUfrag] + (formerICE.map { [$0.localUfrag] } ?? []) }

    /// Restarts ICE (RFC 8445 section 9). Everything else continues, on the old path until the peer nominates one with
    /// `agent`.
    ///
    /// If another restart comes before that, the first one's credentials are dropped and the former ones stay.
    func restartICE(_ agent: LiteAgent) {
        formerICE = formerICE ?? ice
        ice = agent
    }

    /// The addresses that the peer's checks came from.
    var addresses: [TransportAddress] { places.map(\.address) }

    /// Records that one of the peer's checks came from `address`.
    ///
    /// - Returns: an address that is given up to make room, if any. A peer can forge the source addresses of its
    ///   checks, and must not fill our memory with them.
    func note(_ address: TransportAddress, now: MonotonicTime) -> TransportAddress? {
        var place = Place(address: address, checked: now)
        if let index = places.firstIndex(where: { $0.address == address }) {
            place.isProved = places.remove(at: index).isProved
        }
        places.append(place)
        guard places.count > Self.addressLimit else { return nil }
        let unused = { (place: Place) in place.address != self.path.current?.peer && place.address != address }
        guard let index = places.firstIndex(where: { !$0.isProved && unused($0) }) ?? places.firstIndex(where: unused)
        else { return nil }
        return places.remove(at: index).address
    }

    /// The addresses that were given up for others since the last call; clears the list.
    func takeGivenUpAddresses() -> [TransportAddress] {
        defer { givenUp.removeAll() }
        return givenUp
    }

    private func noteProof(at address: TransportAddress) {
        for index in places.indices where places[index].address == address { places[index].isProved = true }
    }

    /// Whether the peer has answered at `address` and was heard there recently: by a check or, on the current path, by
    /// anything authenticated.
    func isHeard(at address: TransportAddress, now: MonotonicTime) -> Bool {
        guard end == nil, let place = places.first(where: { $0.address == address }), place.isProved else {
            return false
        }
        let isOnPath = address == path.current?.peer
        return now - (isOnPath ? lastHeardOnPath : place.checked) < Self.hold
    }

    /// Whether this session's DTLS handshake is in progress at `address`.
    func shakesHands(at address: TransportAddress, now: MonotonicTime) -> Bool {
        guard end == nil, !isConnected, address == path.current?.peer, let lastHandshake else { return false }
        return now - lastHandshake < Self.hold
    }

    private func noteHeard(at address: TransportAddress, now: MonotonicTime) {
        lastHeard = now
        if address == path.current?.peer { lastHeardOnPath = now }
    }

    /// Handles a datagram other than STUN, from an address that one of the peer's checks came from.
    func handle(
        _ datagram: ArraySlice<UInt8>, kind: DatagramKind, from address: TransportAddress, now: MonotonicTime
    ) {
        guard end == nil else { return }
        switch kind {
        case .dtls:
            guard let dtls else { return }
            if !isConnected, address == path.current?.peer { lastHandshake = now }
            measureHandshake(now: now)
            do {
                try dtls.handle(datagram: datagram, now: now)
            } catch {
                finish("DTLS: \(error)")
            }
            followDTLS(now: now, from: address)
        case .rtcp:
            handleRTCP(datagram, from: address, now: now)
        case .rtp:
            handleRTP(datagram, from: address, now: now)
        case .stun, .other:
            break
        }
        advance(now: now)
    }

    /// Does everything that is due: sends pictures, probes and reports, and handles timers.
    func advance(now: MonotonicTime) {
        guard end == nil else { return }
        let patience = publication == nil ? Self.patience : Self.publisherPatience
        if now - lastHeard >= patience {
            let seconds = patience.milliseconds / 1000
            finish(isConnected ? "the peer has been silent for \(seconds) s" : "the peer never came")
            return
        }
        deadline = lastHeard + patience
        if publication == nil, let connectedAt {
            let answerDue = (path.lastAnswer ?? connectedAt) + Self.answerPatience
            guard now < answerDue else {
                finish("the peer has answered no check for \(Self.answerPatience.milliseconds / 1000) s")
                return
            }
            deadline = min(deadline, answerDue)
        }
        for request in path.takeDue(now: now) { _ = sink.send(request.datagram, along: request.path) }
        deadline = min(deadline, path.deadline)
        if let dtls, !isConnected {
            if let timeout = dtls.nextTimeout(now: now), timeout <= now {
                do {
                    try dtls.handleTimeout(now: now)
                } catch {
                    finish("DTLS: \(error)")
                }
                followDTLS(now: now)
            }
            deadline = min(deadline, dtls.nextTimeout(now: now) ?? .distantFuture)
        }
        if let protector, let path = path.proved(now: now) {
            let sink = self.sink
            if let feed {
                sender?.advance(now: now, feed: feed, protector: protector) { sink.send($0, along: path) }
            }
            receiver?.advance(now: now, protector: protector) { sink.send($0, along: path) }
            deadline = min(deadline, sender?.deadline ?? .distantFuture, receiver?.deadline ?? .distantFuture)
            for change in sender?.pointer.take() ?? [] { onPointerChange?(change) }
        }
    }

    /// Calls `onChange` for the first picture, and whenever the pointer starts or stops being drawn into the pictures.
    /// If pictures have already been sent, calls it at once.
    func watchPointer(_ onChange: @escaping (PointerChange) -> Void) {
        onPointerChange = onChange
        sender?.pointer.isWatched = true
        if let last = sender?.pointer.last { onChange(last) }
    }

    /// Asks a publisher for an IDR picture until one arrives.
    func requestKeyFrame(now: MonotonicTime) {
        receiver?.requestKeyFrame(now: now)
        advance(now: now)
    }

    /// Ends the session from our side and notifies the peer.
    func close(now: MonotonicTime, reason: String = "closed") {
        dtls?.close()
        flushDTLS(now: now)
        finish(reason)
    }

    /// The peer's name in the log.
    var title: String { publication == nil ? "viewer \(id)" : "publisher \(id)" }

    /// The bit rate that the peer's path seems to carry.
    var targetBitRate: BitRate { sender?.rate.target ?? LossBasedRate.highest }

    /// The session's statistics, for monitoring.
    var statistics: PeerStatistics {
        PeerStatistics(
            id: id, isConnected: isConnected, sentUnits: sender?.sentUnits ?? 0,
            sentPackets: Int(sender?.stream.statistics.packetCount ?? 0),
            retransmittedPackets: Int(sender?.stream.retransmissionStatistics.packetCount ?? 0),
            roundTripTime: sender?.roundTripTime, targetBitRate: targetBitRate)
    }

    /// Whether the session is in the queue of those that wait for room in the socket. Managed by the media loop.
    var isQueuedForRoom = false

    /// Whether the session waits for room in the socket; ``resume(now:)`` must be called once there is some.
    var isStalled: Bool { sender?.isStalled ?? false }

    /// Resumes sending after the socket has room again.
    func resume(now: MonotonicTime) {
        sender?.isStalled = false
        advance(now: now)
    }

    // MARK: DTLS

    private func startDTLS(now: MonotonicTime) {
        do {
            let dtls = try DTLSTransport(
                context: context, role: parameters.isDTLSClient ? .client : .server,
                expectedFingerprint: parameters.remoteFingerprint)
            self.dtls = dtls
            try dtls.start(now: now)
        } catch {
            finish("DTLS: \(error)")
        }
        flushDTLS(now: now)
    }

    /// Measures the round-trip time with the handshake. The peer answers a flight at once, so this is a good first
    /// estimate. With it, a lost packet of the first picture is repaired quickly. Reports improve it later.
    ///
    /// After a lost flight we would measure the peer's timer, not the path (Karn's rule, RFC 6298 section 3). So a
    /// measurement longer than the default estimate is discarded.
    private func measureHandshake(now: MonotonicTime) {
        guard let sentAt = flightSentAt else { return }
        flightSentAt = nil
        let answered = now - sentAt
        guard answered < Self.longestEstimate else { return }
        handshakeRoundTrip = min(answered, handshakeRoundTrip ?? answered)
    }

    private func flushDTLS(now: MonotonicTime) {
        guard let dtls, let way = path.current else { return }
        for datagram in dtls.takeOutgoing() {
            _ = sink.send(datagram, along: way)
            flightSentAt = now
            path.noteFlight()
        }
    }

    /// Acts on the handshake's progress after a datagram from `address` or after its timer.
    private func followDTLS(now: MonotonicTime, from address: TransportAddress? = nil) {
        flushDTLS(now: now)
        switch dtls?.state {
        case .connected(let keys):
            guard !isConnected else { return }
            do {
                protector = try SRTPSession(keys: keys)
                if let publication {
                    receiver = TrackReceiver(parameters, publication, now: now)
                } else {
                    sender = TrackSender(parameters, roundTripTime: handshakeRoundTrip, now: now)
                    sender?.pointer.isWatched = onPointerChange != nil
                }
                connectedAt = now
                lastHeard = now
                if let address, path.handshakeEnded(from: address, now: now) {
                    noteProof(at: address)
                    noteHeard(at: address, now: now)
                }
            } catch {
                finish("SRTP: \(error)")
            }
        case .closed: finish("the peer closed the connection")
        case .failed(let error): finish("DTLS: \(error)")
        case .handshaking, nil: break
        }
    }

    private func handleRTCP(_ datagram: ArraySlice<UInt8>, from address: TransportAddress, now: MonotonicTime) {
        guard let protector else { return }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: datagram)
        // A datagram that can't be authenticated did not come from the peer, and one that can't be parsed carries no
        // information.
        guard (try? protector.unprotectRTCP(&scratch)) != nil,
            let packets = try? RTCPPacket.parse(scratch[...])
        else { return }
        noteHeard(at: address, now: now)
        receiver?.handle(packets, now: now)
        guard let feed, let path = path.proved(now: now) else { return }
        let sink = self.sink
        sender?.handle(packets, now: now, feed: feed, protector: protector) { sink.send($0, along: path) }
    }

    /// A viewer sends no media. A publisher's audio shows that it is alive, as its video does.
    private func handleRTP(_ datagram: ArraySlice<UInt8>, from address: TransportAddress, now: MonotonicTime) {
        guard receiver != nil, let protector else { return }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: datagram)
        guard (try? protector.unprotect(&scratch)) != nil, let packet = try? RTPPacket(parsing: scratch[...]) else {
            return
        }
        noteHeard(at: address, now: now)
        path.publisherHeard(at: address, now: now)
        receiver?.handle(packet, now: now)
    }

    private func finish(_ reason: String) {
        if end == nil { end = reason }
    }
}

/// The statistics of one session so far.
public struct PeerStatistics: Sendable {
    public var id: MediaSessionID
    /// Whether the session is connected, so that media can flow.
    public var isConnected: Bool
    /// The number of access units sent completely.
    public var sentUnits: Int
    /// The number of RTP packets sent, including those sent again without RTX.
    public var sentPackets: Int
    /// The number of RTP packets sent again on the retransmission stream.
    public var retransmittedPackets: Int
    /// The last measured round-trip time.
    public var roundTripTime: Interval?
    /// The bit rate that the path seems to carry.
    public var targetBitRate: BitRate
}
