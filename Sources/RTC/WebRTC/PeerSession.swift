import CongestionControl
public import MediaTypes
import RTP
import STUN
import SecureTransport

/// One peer: ICE-lite, then DTLS, then SRTP, each knowing only the one below.
///
/// Sans-IO: datagrams, pictures and the time go in; datagrams go to the sink; ``deadline`` says when to come back and
/// ``end`` that it is over. Belongs to the media thread.
final class PeerSession {
    /// A peer that is silent for so long is gone (RFC 7675 section 5.1).
    static let patience = Interval.seconds(30)
    /// The same of a publisher that has come: it sends pictures all the time, and another may be waiting for its place.
    static let publisherPatience = Interval.seconds(10)
    /// How long an address stays a session's after it was last heard there, though another's check comes from it.
    ///
    /// Consent is asked for every 5 s, 6 s at most (RFC 7675 section 5.1; so does aioice, and Chromium checks every 2.5 s): one
    /// check may be lost, and mostly two. It is half of the 30 s after which consent is over, so that who comes anew at the port
    /// of one that was killed gets in before it gives its own checks up, for which Chromium takes 15 s.
    static let hold = Interval.seconds(15)
    /// Addresses that one peer may be proved to have: a few interfaces, and a few changes of a NAT's mind.
    static let addressLimit = 16

    /// A viewer that is heard and answers no request of ours for so long gets no media any more: it is told so by the end. Longer than
    /// ``patience`` and one round of requests, so that who comes back in time has time to answer.
    private static let answerPatience = Interval.seconds(40)

    private static let longestEstimate = Interval.milliseconds(100)

    let id: PeerSessionID
    /// What the peer watches; nil where it publishes.
    let feed: TrackFeed?
    /// What the peer decodes: all formats up to this one.
    let decodes: ChromaFormat
    /// The present ICE generation.
    private(set) var ice: LiteAgent
    /// The generation before a restart, until the peer has nominated a way by the new one.
    private var formerICE: LiteAgent?
    /// Why the session is over; nil while it isn't.
    private(set) var end: String?
    /// When ``advance(now:)`` has something to do though nothing came.
    private(set) var deadline: MonotonicTime
    /// Whether pictures flow.
    var isConnected: Bool { connectedAt != nil }

    private var connectedAt: MonotonicTime?
    private let parameters: SessionParameters
    private let context: DTLSContext
    private let sink: any DatagramSink
    /// What the peer publishes; nil where it watches.
    private let publication: Publication?
    private var receiver: TrackReceiver?
    /// Made when the keys stand: it takes far more memory than an offer that nobody follows up should cost.
    private var sender: TrackSender?
    private var path: MediaPath
    /// Where the peer's checks came from, and when last; the latest is the last.
    private var places: [Place] = []
    /// Addresses that were given up since ``takeGivenUpAddresses()``.
    private var givenUp: [TransportAddress] = []
    private var dtls: DTLSTransport?
    private var protector: SRTPSession?
    private var onPointerChange: ((PointerChange) -> Void)?
    private var flightSentAt: MonotonicTime?
    private var handshakeRoundTrip: Interval?
    private var lastHeard: MonotonicTime
    /// When the peer was last heard at the address that `path` goes to.
    private var lastHeardOnPath: MonotonicTime
    /// When something of the handshake last came from there.
    private var lastHandshake: MonotonicTime?
    private var scratch: [UInt8] = []

    private struct Place {
        let address: TransportAddress
        var checked: MonotonicTime
        /// Whether the peer has answered there.
        var isProved = false
    }

    /// A session whose peer watches `feed`, or, where there is none, publishes `publication`.
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

    /// Takes a check that names our user fragment; true where the peer made it.
    ///
    /// - Parameter isReplied: false where the address is another's who has begun a handshake there: then the peer is only asked whether it
    ///   is there, which decides whose it is.
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

    /// Takes a response to a request of ours; true where it proves that the peer is at the other end of `path`.
    func handle(response: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        guard end == nil, self.path.take(response, along: path, now: now) else { return false }
        noteProof(at: path.peer)
        noteHeard(at: path.peer, now: now)
        advance(now: now)
        return true
    }

    /// Our user fragments that a check may name.
    var localUfrags: [String] { [ice.localUfrag] + (formerICE.map { [$0.localUfrag] } ?? []) }

    /// Begins ICE anew (RFC 8445 section 9): all else goes on, over the old way until the peer nominates one by `agent`.
    ///
    /// A second restart before that takes the place of the first, of which the peer wants no more.
    func restartICE(_ agent: LiteAgent) {
        formerICE = formerICE ?? ice
        ice = agent
    }

    /// Where the peer's checks came from.
    var addresses: [TransportAddress] { places.map(\.address) }

    /// Notes that a check of the peer's came from `address`.
    ///
    /// - Returns: an address that is given up for it: a peer that can write any sender into its checks must not fill our
    ///   memory with addresses.
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

    /// The addresses that were given up for others since the last call.
    func takeGivenUpAddresses() -> [TransportAddress] {
        defer { givenUp.removeAll() }
        return givenUp
    }

    private func noteProof(at address: TransportAddress) {
        for index in places.indices where places[index].address == address { places[index].isProved = true }
    }

    /// Whether the peer has answered at `address` and was heard there lately: by a check, or, where its media goes, by anything that
    /// authenticates.
    func isHeard(at address: TransportAddress, now: MonotonicTime) -> Bool {
        guard end == nil, let place = places.first(where: { $0.address == address }), place.isProved else {
            return false
        }
        let isOnPath = address == path.current?.peer
        return now - (isOnPath ? lastHeardOnPath : place.checked) < Self.hold
    }

    /// Whether a handshake goes on at `address`, where the peer has not answered yet.
    func shakesHands(at address: TransportAddress, now: MonotonicTime) -> Bool {
        guard end == nil, !isConnected, address == path.current?.peer, let lastHandshake else { return false }
        return now - lastHandshake < Self.hold
    }

    private func noteHeard(at address: TransportAddress, now: MonotonicTime) {
        lastHeard = now
        if address == path.current?.peer { lastHeardOnPath = now }
    }

    /// Takes a datagram that isn't STUN, from an address that a check of the peer's came from.
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

    /// Does what is due: pictures, probes, reports, timers.
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

    /// Calls `onChange` from now on for the first picture, and for each that differs from the one before in whether the pointer
    /// is drawn in it; at once where pictures were sent already.
    func watchPointer(_ onChange: @escaping (PointerChange) -> Void) {
        onPointerChange = onChange
        sender?.pointer.isWatched = true
        if let last = sender?.pointer.last { onChange(last) }
    }

    /// Asks a publisher for an IDR picture, until one comes.
    func requestKeyFrame(now: MonotonicTime) {
        receiver?.requestKeyFrame(now: now)
        advance(now: now)
    }

    /// Ends the session from our side: the peer is told.
    func close(now: MonotonicTime, reason: String = "closed") {
        dtls?.close()
        flushDTLS(now: now)
        finish(reason)
    }

    /// Who the peer is, for the log.
    var title: String { publication == nil ? "viewer \(id)" : "publisher \(id)" }

    /// What the peer's path seems to carry.
    var targetBitRate: BitRate { sender?.rate.target ?? LossBasedRate.highest }

    /// What the session has done, for who looks at the host.
    var statistics: PeerStatistics {
        PeerStatistics(
            id: id, isConnected: isConnected, sentUnits: sender?.sentUnits ?? 0,
            sentPackets: Int(sender?.stream.statistics.packetCount ?? 0),
            retransmittedPackets: Int(sender?.stream.retransmissionStatistics.packetCount ?? 0),
            roundTripTime: sender?.roundTripTime, targetBitRate: targetBitRate)
    }

    /// Whether its turn will come among those that wait for room; the media thread's to change.
    var isQueuedForRoom = false

    /// Whether it waits for room in the socket: ``resume(now:)`` is to be called once there is some.
    var isStalled: Bool { sender?.isStalled ?? false }

    /// There is room in the socket again.
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

    /// The peer answers a flight at once: until reports tell more, that is how long the way there and back takes, and a lost
    /// packet of the very first picture is not waited for longer.
    ///
    /// A flight that was lost is answered by the peer's timer instead (Karn's rule, RFC 6298 section 3): what is longer than
    /// would be assumed without an estimate is none.
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

    /// Does what the handshake has come to, by a datagram from `address` or by its timer.
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
        // What can't be authenticated did not come from the peer, and what can't be parsed says nothing.
        guard (try? protector.unprotectRTCP(&scratch)) != nil,
            let packets = try? RTCPPacket.parse(scratch[...])
        else { return }
        noteHeard(at: address, now: now)
        receiver?.handle(packets, now: now)
        guard let feed, let path = path.proved(now: now) else { return }
        let sink = self.sink
        sender?.handle(packets, now: now, feed: feed, protector: protector) { sink.send($0, along: path) }
    }

    /// A viewer sends no media; a publisher's audio shows that it is there, as its video does.
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

/// What one session has done so far.
public struct PeerStatistics: Sendable {
    public var id: PeerSessionID
    /// Whether pictures flow.
    public var isConnected: Bool
    /// Access units sent whole.
    public var sentUnits: Int
    /// RTP packets sent, those sent again without RTX included.
    public var sentPackets: Int
    /// RTP packets sent again on the retransmission stream.
    public var retransmittedPackets: Int
    /// The last round trip measured.
    public var roundTripTime: Interval?
    /// What its path seems to carry.
    public var targetBitRate: BitRate
}
