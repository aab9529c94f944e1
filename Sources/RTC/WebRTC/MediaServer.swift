import MediaTypes
import RTP
import SDP
public import STUN
import SecureTransport
import Synchronization
public import Threading
public import TrackHub

/// How a media server is reached.
public struct MediaServerConfiguration: Sendable {
    /// Where the UDP socket is bound; port 0 takes any.
    public var bind: TransportAddress
    /// Addresses that peers are told beside this machine's own, as behind a port forwarding; their port is the one given.
    public var advertised: [TransportAddress]
    /// How many sessions there may be at once.
    public var sessionLimit: Int

    /// Reached at `bind` and at `advertised`.
    public init(bind: TransportAddress, advertised: [TransportAddress] = [], sessionLimit: Int = 4096) {
        self.bind = bind
        self.advertised = advertised
        self.sessionLimit = sessionLimit
    }
}

/// A session that was opened: its number and what the peer is answered.
public struct OpenedPeer: Sendable {
    public var id: PeerSessionID
    /// The answer (SDP), all of our candidates in it.
    public var answer: String
    /// Names this state of ICE, as WHEP's ETag: our user fragment, which is no secret.
    public var entityTag: String
}

/// Why an offer was not answered.
public enum OfferRefusal: Error, Sendable, CustomStringConvertible {
    /// It can't be read.
    case malformed(String)
    /// It lacks something that a viewer must have, such as H.264.
    case unusable(String)
    /// There are as many sessions as there may be.
    case full(limit: Int)
    /// The server has ended.
    case stopped

    /// The refusal of an offer that `error` tells of: it can't be read, or can't be agreed to.
    init(_ error: any Error) {
        switch error as? SDPError {
        case .tooLong, .notSDP, .malformed, .tooManyMediaSections, .duplicateMid: self = .malformed("\(error)")
        default: self = .unusable("\(error)")
        }
    }

    public var description: String {
        switch self {
        case .malformed(let why), .unusable(let why): why
        case .full(let limit): "the limit of \(limit) viewers is reached"
        case .stopped: "the server is ending"
        }
    }
}

/// All peers of this process: one UDP port, one thread, any number of tracks.
///
/// Methods may be called on any thread; sockets and sessions belong to the media thread.
public final class MediaServer: Sendable {
    /// The UDP port that all peers use.
    public let port: UInt16

    private let configuration: MediaServerConfiguration
    private let context: DTLSContext
    let clock: NTPClock
    let inbox: MediaInbox
    let counters = Mutex(Counters())
    private let thread: NamedThread
    private let addresses: [HostAddress]

    struct Counters {
        var lastID: UInt64 = 0
        var open: Set<PeerSessionID> = []
        /// Of the sessions that have an answer.
        var remoteICE: [PeerSessionID: RemoteICE] = [:]
        /// Of those that wait for one.
        var offers: [PeerSessionID: PendingOffer] = [:]
        var isStopped = false
    }

    /// Binds the port and starts the media thread.
    public init(_ configuration: MediaServerConfiguration, log: EventLog) throws(WebRTCError) {
        self.configuration = configuration
        clock = NTPClock(unixOffset: unixOffsetOfMonotonicClock())
        do {
            context = try DTLSContext(certificate: Certificate())
        } catch {
            throw .system("no certificate for DTLS: \(error)")
        }
        let socket = try UDPSocket(bindingTo: configuration.bind)
        guard let local = socket.localAddress else { throw .system("the UDP socket has no address") }
        port = local.port
        addresses = Self.hostAddresses(bind: configuration.bind, port: local.port, advertised: configuration.advertised)
        guard let inbox = MediaInbox() else { throw .system("no descriptor left for the media thread") }
        self.inbox = inbox
        let context = self.context
        let handedOver = SocketHandover(socket)
        let started = NamedThread("media") {
            guard let socket = handedOver.take() else { return }
            MediaLoop(socket: socket, context: context, inbox: inbox, log: log).run()
        }
        guard let started else { throw .system("no thread left for media") }
        thread = started
    }

    deinit {
        // Without a wait: the last one to let go may be the media thread itself.
        inbox.post(.stop)
    }

    /// What peers are told: the advertised addresses first, since some look at the first candidate alone.
    private static func hostAddresses(
        bind: TransportAddress, port: UInt16, advertised: [TransportAddress]
    ) -> [HostAddress] {
        let isWildcard = bind.bytes.allSatisfy { $0 == 0 }
        // The IPv4 wildcard does not hear IPv6; the IPv6 wildcard hears both.
        let reachable = LocalAddresses.reachable(port: port).filter { bind.family == .ipv6 || $0.family == .ipv4 }
        let own = isWildcard ? reachable : [bind]
        let loopback = isWildcard ? [TransportAddress(ipv4: 127, 0, 0, 1, port: port)] : []
        var result: [HostAddress] = advertised.map {
            HostAddress(address: $0.host, port: $0.port == 0 ? port : $0.port)
        }
        for address in own + loopback {
            let candidate = HostAddress(address: address.host, port: port)
            if !result.contains(candidate) { result.append(candidate) }
        }
        return result
    }

    /// Answers `offer` with a session that watches `hub`; quick, never blocks.
    ///
    /// - Parameter onEnd: called once, on the media thread, when the session is over, with the reason in words.
    public func open(
        offer: String, watching hub: TrackHub, onEnd: @escaping @Sendable (String) -> Void
    ) throws(OfferRefusal) -> OpenedPeer {
        let local = localDescription()
        let answer: Answer
        do {
            answer = try Answer(to: SessionDescription(parsing: offer), local: local)
        } catch {
            throw OfferRefusal(error)
        }
        let id = try nextID()
        try begin(id, local: local, video: answer.video, watching: hub, onEnd: onEnd)
        return OpenedPeer(id: id, answer: answer.text, entityTag: local.iceUfrag)
    }

    /// Has the session `id`, which is counted already, begin as `video` says; where it can't, it isn't counted any more.
    func begin(
        _ id: PeerSessionID, local: LocalDescription, video: NegotiatedVideo, watching hub: TrackHub,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(OfferRefusal) {
        let fingerprint: SecureTransport.CertificateFingerprint
        do {
            let remote = video.remoteFingerprint
            fingerprint = try SecureTransport.CertificateFingerprint(
                algorithmName: remote.algorithm, bytes: remote.bytes)
        } catch {
            ended(id)
            throw OfferRefusal(error)
        }
        let formats = SessionFormats(video)
        let decodes = formats.decodes
        // What was due while nobody watched.
        hub.pollChroma(now: monotonicNow())
        guard !hub.excludes(viewerDecoding: decodes) else {
            ended(id)
            throw .unusable(ChromaPolicy.exclusion)
        }
        let parameters = SessionParameters(
            id: id, localUfrag: local.iceUfrag, localPassword: local.icePassword, remoteUfrag: video.remoteUfrag,
            remotePassword: video.remotePassword, remoteFingerprint: fingerprint,
            isDTLSClient: video.dtlsRole == .client,
            formats: formats,
            extensions: HeaderExtensionFormat(
                playoutDelayID: video.extensions.playoutDelay, captureTimeID: video.extensions.absoluteCaptureTime,
                midID: video.extensions.mid, mid: video.mid ?? ""),
            ssrc: SSRC(local.ssrc), retransmissionSSRC: SSRC(local.rtxSSRC), canonicalName: local.cname, clock: clock)
        counters.withLock { $0.remoteICE[id] = RemoteICE(video) }
        // From here on someone watches: a paused source wakes while the handshake is under way.
        hub.viewerCame(decoding: decodes)
        let isPosted = inbox.post(
            .open(
                parameters, hub,
                onEnd: { [weak self] reason in
                    hub.viewerLeft(decoding: decodes, now: monotonicNow())
                    self?.ended(id)
                    onEnd(reason)
                }))
        guard isPosted else {
            hub.viewerLeft(decoding: decodes, now: monotonicNow())
            ended(id)
            throw .stopped
        }
    }

    /// What we say of ourselves in a new session: names, credentials and numbers drawn by lot.
    func localDescription() -> LocalDescription {
        let ice = SecureRandom.iceCredentials()
        let ssrc = SecureRandom.uint32()
        let own = context.certificate.fingerprint
        return LocalDescription(
            sessionID: SecureRandom.uint64() >> 2, iceUfrag: ice.usernameFragment, icePassword: ice.password,
            fingerprint: SDP.CertificateFingerprint(algorithm: own.algorithm.rawValue, bytes: own.bytes),
            addresses: addresses, ssrc: ssrc, rtxSSRC: ssrc &+ 1, cname: Self.randomName())
    }

    /// Ends a session; unknown ones are ignored.
    public func close(_ id: PeerSessionID) {
        inbox.post(.close(id))
    }

    /// Tells for the first picture that a session sends, and for each that differs from the one before, whether the pointer is
    /// drawn in it; `onChange` is called on the media thread, as the picture goes out. Unknown sessions are ignored.
    public func watchPointer(of id: PeerSessionID, onChange: @escaping @Sendable (PointerChange) -> Void) {
        inbox.post(.watchPointer(id, onChange))
    }

    /// Now, in microseconds since 1970 of the clock that abs-capture-time and sender reports are in; never stepped. Any thread.
    public var captureClock: Int64 { (monotonicNow() + clock.unixOffset).nanoseconds / 1000 }

    /// Hands what every session has done to `completion`, on the media thread; nothing where that has ended.
    public func statistics(_ completion: @escaping @Sendable ([PeerStatistics]) -> Void) {
        if !inbox.post(.statistics(completion)) { completion([]) }
    }

    /// Ends all sessions and the thread. Idempotent.
    public func stop() {
        counters.withLock { $0.isStopped = true }
        inbox.post(.stop)
        thread.join()
    }

    func nextID() throws(OfferRefusal) -> PeerSessionID {
        let limit = configuration.sessionLimit
        let result = counters.withLock { counters -> Result<PeerSessionID, OfferRefusal> in
            if counters.isStopped { return .failure(.stopped) }
            if counters.open.count >= limit { return .failure(.full(limit: limit)) }
            counters.lastID += 1
            let id = PeerSessionID(counters.lastID)
            counters.open.insert(id)
            return .success(id)
        }
        return try result.get()
    }

    func ended(_ id: PeerSessionID) {
        counters.withLock { counters in
            counters.open.remove(id)
            counters.offers[id] = nil
            counters.remoteICE[id] = nil
        }
    }

    /// A canonical name that says nothing about anybody (RFC 7022 section 4.2).
    private static func randomName() -> String {
        String(SecureRandom.uint64(), radix: 36) + String(SecureRandom.uint32(), radix: 36)
    }
}

extension SessionFormats {
    init(_ video: NegotiatedVideo) {
        func format(_ negotiated: NegotiatedVideo.Format) -> Format {
            Format(
                payloadType: PayloadType(negotiated.payloadType),
                retransmissionPayloadType: negotiated.rtxPayloadType.map { PayloadType($0) })
        }
        yuv420 = format(video.format)
        yuv444 = video.format444.map(format)
    }
}
