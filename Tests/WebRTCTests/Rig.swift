import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import Testing
import TrackHub

@testable import WebRTC

/// A source's tracks, their feeds and any number of sessions with their viewers, under a clock that only the test
/// moves. Unless the test wants more, there is one track of pictures.
///
/// It does what the media thread does, one event after the other. Handshakes are run without loss, since OpenSSL's
/// retransmission timer follows the wall clock.
final class Rig {
    /// The time that a datagram takes each way.
    static let delay = Interval.milliseconds(5)
    static let clock = NTPClock(unixOffset: .seconds(1_700_000_000))

    private(set) var now = MonotonicTime(nanoseconds: 5_000_000_000_000)
    let tracks: [RigTrack]
    let context: DTLSContext
    private(set) var peers: [RigPeer] = []

    /// A source with so many tracks of pictures and, behind them, one of sound if `hasSound` is true.
    init(trackCount: Int = 1, hasSound: Bool = false) throws {
        let origin = now - .seconds(60)
        var tracks = (0..<trackCount).map { _ in RigTrack(origin: origin) }
        if hasSound { tracks.append(RigTrack(origin: origin, kind: .audio)) }
        self.tracks = tracks
        context = try DTLSContext(certificate: Certificate())
    }

    /// The first track's parts.
    var hub: TrackHub { tracks[0].hub }
    var source: RecordingSource { tracks[0].source }
    var feed: TrackFeed { tracks[0].feed }
    var published: [CodedFrame] { tracks[0].published }

    /// A session and its viewer that have not yet spoken to each other.
    ///
    /// - Parameters:
    ///   - promised: the certificate that the viewer's offer promised, where that isn't the viewer's own.
    ///   - red: the payload type of RED for sound; nil if the viewer doesn't take it.
    ///   - candidates: those in the viewer's description.
    func addPeer(
        hasRetransmission: Bool = true, isDTLSClient: Bool = false, promised: CertificateFingerprint? = nil,
        decodes444: Bool = true, hasTransportNumbers: Bool = false, red: UInt8? = nil,
        candidates: [RemoteCandidate] = [], iceRole: ICEAgent.Role = .lite, checksPictures: Bool = false
    ) throws -> RigPeer {
        for track in tracks { track.hub.viewerCame(decoding: decodes444 ? .yuv444 : .yuv420, now: now) }
        let viewerContext = try DTLSContext(certificate: Certificate())
        let number = UInt8(peers.count)
        var settings = TestViewer.Settings(hostFingerprint: context.certificate.fingerprint)
        settings.hostUfrag = "host\(number)"
        settings.retransmission = hasRetransmission ? settings.retransmission : nil
        settings.dtlsRole = isDTLSClient ? .server : .client
        let parameters = SessionParameters(
            id: MediaSessionID(rawValue: UInt64(number)), localUfrag: settings.hostUfrag,
            localPassword: settings.hostPassword,
            remoteUfrag: settings.ufrag, remotePassword: settings.password,
            remoteFingerprint: promised ?? viewerContext.certificate.fingerprint,
            isDTLSClient: isDTLSClient, canonicalName: "name", clock: Self.clock, candidates: candidates,
            iceRole: iceRole)
        let watched = tracks.enumerated().map { index, track in
            WatchedTrack(
                hub: track.hub,
                formats: track.kind == .audio
                    ? .opus(red: red)
                    : StreamFormats(
                        yuv420: (PayloadType(102), hasRetransmission ? PayloadType(103) : nil),
                        yuv444: decodes444 ? (PayloadType(116), hasRetransmission ? PayloadType(117) : nil) : nil),
                extensions: HeaderExtensionFormat(
                    playoutDelayID: 5, captureTimeID: 12, midID: 9, mid: "\(index)",
                    transportNumberID: hasTransportNumbers ? 3 : nil, samplesID: checksPictures ? 14 : nil),
                ssrc: SSRC(settings.media.rawValue + UInt32(index) * 0x100),
                retransmissionSSRC: SSRC(0x1122_3345 + UInt32(index) * 0x100))
        }
        let feeds = Dictionary(uniqueKeysWithValues: tracks.map { (ObjectIdentifier($0.hub), $0.feed) })
        let role = SessionRole.watching(WatchedTracks(watched) { feeds[ObjectIdentifier($0)] ?? feed })
        let link = TestLink()
        let peer = RigPeer(
            session: PeerSession(parameters, role: role, context: context, sink: link, now: now),
            viewer: try TestViewer(settings, context: viewerContext), link: link,
            path: NetworkPath(
                peer: TransportAddress(ipv4: 192, 0, 2, number, port: 50_000),
                local: TransportAddress(ipv4: 192, 0, 2, 200, port: 7000)))
        peers.append(peer)
        return peer
    }

    /// A viewer that has connected.
    func join(
        hasRetransmission: Bool = true, isDTLSClient: Bool = false, decodes444: Bool = true,
        hasTransportNumbers: Bool = false, red: UInt8? = nil, checksPictures: Bool = false
    ) throws -> RigPeer {
        let peer = try addPeer(
            hasRetransmission: hasRetransmission, isDTLSClient: isDTLSClient, decodes444: decodes444,
            hasTransportNumbers: hasTransportNumbers, red: red, checksPictures: checksPictures)
        peer.viewer.check()
        for _ in 0..<100 where !(peer.session.isConnected && peer.viewer.isConnected) { run(for: .milliseconds(5)) }
        let end = peer.session.end?.description ?? "-"
        try #require(peer.session.isConnected && peer.viewer.isConnected, "no connection: \(end)")
        return peer
    }

    /// A server that has connected: it is ICE-lite, and the host looks for the path.
    func joinServer(hasRetransmission: Bool = true, hasTransportNumbers: Bool = false) throws -> RigPeer {
        let address = TransportAddress(ipv4: 192, 0, 2, 0, port: 50_000)
        let peer = try addPeer(
            hasRetransmission: hasRetransmission, isDTLSClient: true, hasTransportNumbers: hasTransportNumbers,
            candidates: [RemoteCandidate(address: address, priority: 100)], iceRole: .controlling(tieBreaker: .max))
        peer.checksOn = false
        peer.viewer.isControlled = true
        run(for: .milliseconds(200))
        try #require(peer.session.isConnected && peer.viewer.isConnected)
        return peer
    }

    /// Publishes a picture of a track that was captured `age` ago.
    func publish(
        _ make: (_ captured: MonotonicTime) -> CodedFrame, age: Interval = .milliseconds(4), on track: Int = 0
    ) {
        let unit = make(now - age)
        tracks[track].published.append(unit)
        tracks[track].hub.publish(unit, epoch: 1, arrival: now)
        updateFeeds()
    }

    /// Publishes so many pictures of the first track, 33 ms apart.
    func show(_ count: Int, byteCount: Int = 8_000) {
        for seed in 0..<UInt64(count) {
            publish { Pictures.delta(byteCount, seed: seed, captured: $0) }
            run(for: .milliseconds(33))
        }
    }

    /// Publishes so many pieces of sound of 10 ms, each when it has just ended. Returns when that was.
    @discardableResult
    func play(_ count: Int, byteCount: Int = 160, on track: Int = 1) -> [MonotonicTime] {
        (0..<count).map { _ in
            let number = UInt8(truncatingIfNeeded: tracks[track].published.count)
            let time = now
            publish(
                { captured in
                    CodedFrame(
                        bytes: [0, 0, 0, 1, 0xF0, number] + [UInt8](repeating: 7, count: byteCount - 2),
                        units: [4..<4 + byteCount], isRandomAccess: true, captureTime: captured,
                        format: TrackFormat(codec: .opus))
                }, age: .milliseconds(10), on: track)
            run(for: .milliseconds(10))
            return time
        }
    }

    /// Lets `interval` pass, and all that falls into it happen.
    ///
    /// - Parameter updatesFeed: whether the media thread looks at the track meanwhile.
    func run(for interval: Interval, updatesFeed: Bool = true) {
        now = passTime(from: now, for: interval) { now in
            peers.map { $0.nextEvent(now: now) }.min() ?? .distantFuture
        } step: { now in
            self.now = now
            if updatesFeed { updateFeeds() }
            for peer in peers { peer.step(now: now) }
        }
    }

    /// Has `peer` try another address and then nominate it: pictures follow, and not before that.
    func move(_ peer: RigPeer) {
        let old = peer.path
        peer.path.peer = TransportAddress(ipv4: 198, 51, 100, 9, port: 4321)
        peer.viewer.check(nominates: false)
        run(for: .milliseconds(20))
        publish { Pictures.delta(500, seed: 1, captured: $0) }
        #expect(peer.link.media.last?.path == old)
        peer.viewer.check(nominates: true)
        run(for: .milliseconds(20))
        publish { Pictures.delta(500, seed: 2, captured: $0) }
    }

    private func updateFeeds() {
        for track in tracks where track.feed.update(now: now) {
            for peer in peers where peer.session.isConnected { peer.advanceMedia(now: now) }
        }
    }
}

/// A track and its feed.
final class RigTrack {
    let kind: TrackFormat.Kind
    let hub: TrackHub
    let source = RecordingSource()
    let feed: TrackFeed
    /// What was published, in order.
    fileprivate(set) var published: [CodedFrame] = []

    init(origin: MonotonicTime, kind: TrackFormat.Kind = .video) {
        self.kind = kind
        hub = TrackHub(origin: origin)
        hub.connect(source: source)
        feed = TrackFeed(hub: hub, wake: {})
    }
}

/// Goes from event to event for `interval`; when it is then.
///
/// - Parameters:
///   - next: when the next event is due.
///   - step: has what is due by then happen.
func passTime(
    from start: MonotonicTime, for interval: Interval, next: (_ now: MonotonicTime) -> MonotonicTime,
    step: (_ now: MonotonicTime) -> Void
) -> MonotonicTime {
    let end = start + interval
    var now = start
    var steps = 0
    while true {
        let due = next(now)
        guard due <= end else { break }
        steps = due > now ? 0 : steps + 1
        guard steps < 100_000 else {
            Issue.record("the session never comes to rest")
            break
        }
        now = max(now, due)
        step(now)
    }
    return max(now, end)
}
