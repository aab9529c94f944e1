import Clocks
public import MediaSessions
public import MediaTypes
import RTP
import SDP
package import STUN
import SecureTransport
import Synchronization
public import Threading
public import TrackHub

/// The WebRTC server of this process, with one port for all peers and any number of tracks.
///
/// Its methods may be called on any thread. Each session belongs to one of the media threads (``LoopGroup``), and a
/// session's callbacks are called on that one.
public final class MediaServer: SessionServer {
    /// The UDP port that all peers use, and the TCP port of peers that can't use UDP.
    public let port: UInt16
    /// Whether peers can connect over TCP: the TCP port of that number was free.
    public let takesConnections: Bool

    let configuration: MediaServerConfiguration
    private let context: DTLSContext
    let clock: NTPClock
    let group: LoopGroup
    let registry = Mutex(SessionRegistry())
    private let threads: [NamedThread]
    /// The addresses offered to peers, in addition to the addresses that STUN servers see.
    let addresses: [HostAddress]
    let sharedAddresses = SharedAddresses()

    /// The sessions' state that all threads share; the media threads have the sessions themselves.
    struct SessionRegistry {
        /// The number of each loop's last session.
        var lastNumbers: [Int: UInt64] = [:]
        var open: Set<MediaSessionID> = []
        /// The result of the negotiation with each session's peer, once there is an answer. Its credentials belong to
        /// the peer's current ICE generation.
        var negotiated: [MediaSessionID: NegotiatedMedia] = [:]
        /// The offers that wait for an answer.
        var offers: [MediaSessionID: PendingOffer] = [:]
        var isStopped = false
    }

    /// Binds the port and starts the media threads. Throws ``WebRTCError`` if the port can't be bound, or if no thread,
    /// descriptor or certificate can be made.
    public init(_ configuration: MediaServerConfiguration, log: EventLog) throws(WebRTCError) {
        self.configuration = configuration
        clock = NTPClock(unixOffset: .unixOffsetOfMonotonicClock())
        do {
            context = try DTLSContext(certificate: Certificate())
        } catch {
            throw .system("no certificate for DTLS: \(error)")
        }
        let sockets = try MediaSockets(configuration, log: log)
        port = sockets.address.port
        takesConnections = sockets.takesConnections
        addresses = Self.hostAddresses(bind: configuration.bind, port: port, advertised: configuration.advertised)
        let count = configuration.threadCount ?? LoopGroup.usualCount(within: configuration.processorLimit)
        let alone = LoopGroup.usualSessionsAlone
        guard let group = LoopGroup(count: count, sessionsAlone: configuration.threadCount == nil ? alone : 0) else {
            throw .system("no descriptor left for the media threads")
        }
        self.group = group
        var handovers: [SocketHandover] = []
        for _ in group.loops.dropFirst() { handovers.append(SocketHandover(MediaSockets(sharing: sockets))) }
        handovers.insert(SocketHandover(sockets), at: LoopGroup.first)
        let context = self.context
        let sharedAddresses = self.sharedAddresses
        let stunServers = Self.stunServers(configuration, log)
        let (lagLimits, halfOpenLimits) = (configuration.lagLimits, configuration.halfOpenLimits)
        let lines = LogRateLimiter(log)
        var threads: [NamedThread] = []
        for (index, handover) in handovers.enumerated() {
            let started = NamedThread("media") {
                guard let sockets = handover.take() else { return }
                MediaLoop(
                    index, of: group, sockets: sockets, context: context,
                    stunServers: index == LoopGroup.first ? stunServers : [], sharedAddresses: sharedAddresses,
                    lagLimits: lagLimits, halfOpenLimits: halfOpenLimits, lines: lines
                ).run()
            }
            guard let started else {
                group.stop()
                throw .system("no thread left for media")
            }
            threads.append(started)
        }
        self.threads = threads
    }

    deinit {
        // Does not wait for the threads: the last reference may be released on a media thread.
        group.stop()
    }

    /// Answers `offer` with a session that watches `source`. Quick and never blocks. Throws ``MediaSessionError`` if
    /// the offer can't be read or takes nothing that the source has, or if there is no room.
    ///
    /// - Parameters:
    ///   - client: the address in text that sent the offer, without the port. If it is known, the host begins the DTLS
    ///     handshake, so that the first picture arrives a round trip earlier.
    ///   - onEnd: called once on the media thread with the reason in words when the session is over.
    public func open(
        offer: String, from client: String? = nil, watching source: WatchedSource,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) -> OpenedSession {
        let loop = group.loopForNewSession()
        let local = localDescription(in: loop, sending: source.kinds)
        let answer: Answer
        do {
            answer = try Answer(
                to: SessionDescription(parsing: offer), local: local, role: client == nil ? .server : .client)
        } catch {
            throw MediaSessionError(error)
        }
        let id = try nextID(in: loop)
        try begin(id, local: local, media: answer.media, from: client, watching: source, onEnd: onEnd)
        return OpenedSession(id: id, answer: answer.text, entityTag: local.iceUfrag)
    }

    /// Starts the session `id`, which is already counted, with the parameters in `media`. If it can't start, it is no
    /// longer counted.
    func begin(
        _ id: MediaSessionID, local: LocalDescription, media: NegotiatedMedia, from client: String? = nil,
        watching source: WatchedSource, onEnd: @escaping @Sendable (String) -> Void
    ) throws(MediaSessionError) {
        var parameters = try self.parameters(of: id, local: local, media: media)
        parameters.client = client
        let tracks: [WatchedTrack]
        do throws(MediaSessionError) {
            tracks = try media.sections.map { section throws(MediaSessionError) in
                guard let hub = source.tracks[section.kind], let stream = local.stream(of: section.kind) else {
                    throw .unsupported("the source has no \(section.kind)")
                }
                return WatchedTrack(hub, in: section, as: stream)
            }
        } catch {
            ended(id)
            throw error
        }
        // Catches up on decisions that were due while there were no viewers.
        for track in tracks { track.hub.pollChroma(now: MonotonicTime.now()) }
        guard !tracks.contains(where: { $0.hub.excludes(viewerDecoding: $0.formats.decodes) }) else {
            ended(id)
            throw .unsupported(ChromaPolicy.exclusion)
        }
        // From here on, the tracks have a viewer, so a paused source wakes up while the handshake is in progress.
        for track in tracks { track.hub.viewerCame(decoding: track.formats.decodes, now: MonotonicTime.now()) }
        let leave: @Sendable () -> Void = { [weak self] in
            for track in tracks { track.hub.viewerLeft(decoding: track.formats.decodes, now: MonotonicTime.now()) }
            self?.ended(id)
        }
        let isPosted = post(
            .open(
                parameters, tracks,
                onEnd: { end in
                    leave()
                    onEnd(end.description)
                }), to: id)
        guard isPosted else {
            leave()
            throw .stopped
        }
    }

    /// The parameters of the session `id`, which already counts as open. Keeps `media` for ICE restarts. If it throws,
    /// the session no longer counts.
    func parameters(
        of id: MediaSessionID, local: LocalDescription, media: NegotiatedMedia
    ) throws(MediaSessionError) -> SessionParameters {
        let fingerprint: CertificateFingerprint
        do {
            let remote = media.remoteFingerprint
            fingerprint = try CertificateFingerprint(algorithmName: remote.algorithm, bytes: remote.bytes)
        } catch {
            ended(id)
            throw MediaSessionError(error)
        }
        var kept = media
        kept.remoteCandidates = []
        registry.withLock { $0.negotiated[id] = kept }
        return SessionParameters(
            id: id, localUfrag: local.iceUfrag, localPassword: local.icePassword, remoteUfrag: media.remoteUfrag,
            remotePassword: media.remotePassword, remoteFingerprint: fingerprint,
            isDTLSClient: media.dtlsRole == .client, canonicalName: local.cname, clock: clock,
            candidates: media.remoteCandidates.compactMap { RemoteCandidate($0) },
            iceRole: local.isICELite ? .lite : .controlling(tieBreaker: SecureRandom.uint64()))
    }

    /// Our own part of the description of a session in `loop`, with random names, credentials and numbers.
    ///
    /// - Parameter kinds: what the session sends, in the order of our offer; empty if it only receives.
    func localDescription(in loop: Int, sending kinds: [TrackFormat.Kind]) -> LocalDescription {
        let ice = SecureRandom.iceCredentials()
        let ssrc = SecureRandom.uint32()
        let own = context.certificate.fingerprint
        let streams = kinds.map { kind in
            switch kind {
            case .video: LocalStream(kind: kind, ssrc: ssrc, rtxSSRC: ssrc &+ 1, trackID: "screen-video")
            case .audio: LocalStream(kind: kind, ssrc: ssrc &+ 2, rtxSSRC: ssrc &+ 3, trackID: "screen-sound")
            }
        }
        var local = LocalDescription(
            sessionID: SecureRandom.uint64() >> 2, iceUfrag: group.ufragPrefix(of: loop) + ice.usernameFragment,
            icePassword: ice.password,
            fingerprint: FingerprintAttribute(algorithm: own.algorithm.rawValue, bytes: own.bytes),
            addresses: addresses, streams: streams, cname: Self.randomName())
        local.reflexive = reflexiveAddresses
        local.takesCongestionFeedback = true
        local.takesConnections = takesConnections
        return local
    }

    public func close(_ session: MediaSessionID) {
        post(.close(session), to: session)
    }

    public func setPlayoutDelay(of session: MediaSessionID, to delay: Interval) {
        post(.setPlayoutDelay(session, delay), to: session)
    }

    /// Calls `onChange` on the media thread.
    public func watchPointer(_ session: MediaSessionID, onChange: @escaping @Sendable (PointerChange) -> Void) {
        post(.watchPointer(session, onChange), to: session)
    }

    /// Asks the peer of `session` about once a second whether it is there, and ends the session once it has been silent
    /// for `timeout`, for a peer whose end would otherwise be noticed too late. `onConnect` is called once on the
    /// media thread, when the session is connected. Unknown ids are ignored.
    public func enableKeepalive(
        _ session: MediaSessionID, timeout: Interval, onConnect: @escaping @Sendable () -> Void
    ) {
        post(.enableKeepalive(session, timeout: timeout, onConnect: onConnect), to: session)
    }

    /// Calls `onChange` on the media thread with the peer's address on the path of `session`: once it is connected, and
    /// after each change. Unknown ids are ignored.
    package func watchPath(_ session: MediaSessionID, onChange: @escaping @Sendable (TransportAddress) -> Void) {
        post(.watchPath(session, onChange), to: session)
    }

    /// The current time in microseconds since 1970, on the clock of abs-capture-time and sender reports, which is never
    /// stepped. May be used on any thread.
    public var captureClock: Int64 { (MonotonicTime.now() + clock.unixOffset).nanoseconds / 1000 }

    /// Ends all sessions and the media threads. Idempotent.
    public func stop() {
        registry.withLock { $0.isStopped = true }
        group.stop()
        for thread in threads { thread.join() }
    }

    /// Admits a session, or returns why there is no room for another one, for the viewer: the media threads are
    /// overloaded, or the configuration has a reason. Each session of the server is admitted in this way; call it for
    /// viewers who are served otherwise. Quick and never blocks.
    public func sessionRefusal() -> String? {
        isOverloaded ? "the host is too busy for another viewer" : configuration.sessionRefusal()
    }

    /// Counts another session in `loop`, and returns its identifier.
    func nextID(in loop: Int) throws(MediaSessionError) -> MediaSessionID {
        if let reason = sessionRefusal() { throw .full(reason) }
        let limit = configuration.sessionLimit
        let result = registry.withLock { registry -> Result<MediaSessionID, MediaSessionError> in
            if registry.isStopped { return .failure(.stopped) }
            if registry.open.count >= limit { return .failure(.full("the limit of \(limit) viewers is reached")) }
            registry.lastNumbers[loop, default: 0] += 1
            let id = group.identifier(ofSession: registry.lastNumbers[loop, default: 0], in: loop)
            registry.open.insert(id)
            group.loops[loop].changeSessionCount(by: 1)
            return .success(id)
        }
        return try result.get()
    }

    /// Hands a command to the media thread of `session`. Returns false if that thread has ended.
    @discardableResult
    func post(_ command: MediaCommand, to session: MediaSessionID) -> Bool {
        group.loops[group.loop(of: session)].inbox.post(command)
    }

    func ended(_ id: MediaSessionID) {
        let wasOpen = registry.withLock { registry in
            registry.offers[id] = nil
            registry.negotiated[id] = nil
            return registry.open.remove(id) != nil
        }
        guard wasOpen else { return }
        group.loops[group.loop(of: id)].changeSessionCount(by: -1)
        configuration.freedMemory.sessionEnded()
    }

    /// A canonical name that identifies nobody (RFC 7022 section 4.2).
    private static func randomName() -> String {
        String(SecureRandom.uint64(), radix: 36) + String(SecureRandom.uint32(), radix: 36)
    }
}
