import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import Synchronization
import Testing
import TrackHub

@testable import WebRTC

/// A source's tracks, their feeds and any number of sessions with their viewers, under a clock that only the test moves.
/// Unless the test wants more, there is one track.
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

    init(trackCount: Int = 1) throws {
        let origin = now - .seconds(60)
        tracks = (0..<trackCount).map { _ in RigTrack(origin: origin) }
        context = try DTLSContext(certificate: Certificate())
    }

    /// The first track's parts.
    var hub: TrackHub { tracks[0].hub }
    var source: RecordingSource { tracks[0].source }
    var feed: TrackFeed { tracks[0].feed }
    var published: [CodedFrame] { tracks[0].published }

    /// A session and its viewer that have not yet spoken to each other.
    ///
    /// - Parameter promised: the certificate that the viewer's offer promised, where that isn't the viewer's own.
    func addPeer(
        hasRetransmission: Bool = true, isDTLSClient: Bool = false, promised: CertificateFingerprint? = nil,
        decodes444: Bool = true, hasTransportNumbers: Bool = false
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
            isDTLSClient: isDTLSClient, canonicalName: "name", clock: Self.clock)
        let watched = tracks.enumerated().map { index, track in
            WatchedTrack(
                hub: track.hub,
                formats: StreamFormats(
                    yuv420: (PayloadType(102), hasRetransmission ? PayloadType(103) : nil),
                    yuv444: decodes444 ? (PayloadType(116), hasRetransmission ? PayloadType(117) : nil) : nil),
                extensions: HeaderExtensionFormat(
                    playoutDelayID: 5, captureTimeID: 12, midID: 9, mid: "\(index)",
                    transportNumberID: hasTransportNumbers ? 3 : nil),
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
        hasTransportNumbers: Bool = false
    ) throws -> RigPeer {
        let peer = try addPeer(
            hasRetransmission: hasRetransmission, isDTLSClient: isDTLSClient, decodes444: decodes444,
            hasTransportNumbers: hasTransportNumbers)
        peer.viewer.check()
        for _ in 0..<100 where !(peer.session.isConnected && peer.viewer.isConnected) { run(for: .milliseconds(5)) }
        try #require(peer.session.isConnected && peer.viewer.isConnected, "no connection: \(peer.session.end ?? "-")")
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
            for peer in peers where peer.session.isConnected { peer.advance(now: now) }
        }
    }
}

/// A track and its feed.
final class RigTrack {
    let hub: TrackHub
    let source = RecordingSource()
    let feed: TrackFeed
    /// What was published, in order.
    fileprivate(set) var published: [CodedFrame] = []

    init(origin: MonotonicTime) {
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

/// A session, the viewer at its other end, and what is between them.
final class RigPeer {
    let session: PeerSession
    let viewer: TestViewer
    let link: TestLink
    var path: NetworkPath
    /// A viewer that still receives, but sends nothing any more.
    var isSilent = false
    /// Whether it checks every 2.5 s, as browsers do.
    var checksOn = true
    /// Decides which of the viewer's datagrams are lost.
    var losesToHost: (_ datagram: [UInt8]) -> Bool = { _ in false }

    private var toHost: [(time: MonotonicTime, datagram: [UInt8])] = []
    private var nextPoll = MonotonicTime.distantFuture
    private var nextCheck: MonotonicTime?

    init(session: PeerSession, viewer: TestViewer, link: TestLink, path: NetworkPath) {
        self.session = session
        self.viewer = viewer
        self.link = link
        self.path = path
    }

    /// The pictures that came whole, as lists of NAL units.
    var wholePictures: [[[UInt8]]] { viewer.pictures.filter { $0.unit.isComplete }.map { $0.unit.nalUnits } }

    /// Media packets that came, without retransmissions.
    var mediaPackets: [TestViewer.Packet] { viewer.packets.filter { !$0.isRetransmission } }

    func nextEvent(now: MonotonicTime) -> MonotonicTime {
        pickUp(now: now)
        let due = session.end == nil ? session.deadline : .distantFuture
        return min(
            due, link.inFlight.first?.time ?? .distantFuture, toHost.first?.time ?? .distantFuture, nextPoll,
            checksOn ? nextCheck ?? .distantFuture : .distantFuture)
    }

    func step(now: MonotonicTime) {
        link.now = now
        while let first = toHost.first, first.time <= now {
            toHost.removeFirst()
            deliver(first.datagram, now: now)
        }
        while let first = link.inFlight.first, first.time <= now {
            link.inFlight.removeFirst()
            viewer.receive(first.datagram, now: now)
            nextPoll = min(nextPoll, now + .milliseconds(10))
        }
        if nextPoll <= now {
            nextPoll = .distantFuture
            let before = viewer.sentNacks
            viewer.poll(now: now)
            if viewer.sentNacks > before { nextPoll = now + .milliseconds(10) }
        }
        if session.isConnected, checksOn, nextCheck.map({ $0 <= now }) ?? true {
            if nextCheck != nil { viewer.check() }
            nextCheck = now + .milliseconds(2500)
        }
        if session.end == nil, session.deadline <= now { advance(now: now) }
    }

    func advance(now: MonotonicTime) {
        link.now = now
        session.advance(now: now)
        #expect(session.end != nil || session.deadline > now, "a deadline that has passed would spin")
    }

    /// What the media thread does with a datagram.
    private func deliver(_ datagram: [UInt8], now: MonotonicTime) {
        switch DatagramKind(of: datagram) {
        case .stun:
            guard let message = try? STUNMessage(parsing: datagram) else { return }
            if message.messageClass == .request {
                _ = session.handle(message, along: path, now: now)
            } else {
                _ = session.handle(response: message, along: path, now: now)
            }
        case let kind:
            session.handle(datagram[...], kind: kind, from: path.peer, now: now)
        }
    }

    private func pickUp(now: MonotonicTime) {
        for datagram in viewer.takeOutgoing() where !isSilent && !losesToHost(datagram) {
            toHost.append((now + Rig.delay, datagram))
        }
    }
}

/// The way from the host to one viewer: 5 ms long, and losing what the test says.
final class TestLink: DatagramSink {
    struct Sent {
        var time: MonotonicTime
        var datagram: [UInt8]
        var path: NetworkPath
        var isLost: Bool

        var kind: DatagramKind { DatagramKind(of: datagram) }
        /// Of a media packet: its header is not encrypted.
        var sequenceNumber: UInt16 { UInt16(datagram[2]) << 8 | UInt16(datagram[3]) }
        var ssrc: UInt32 { datagram[8..<12].reduce(0) { $0 << 8 | UInt32($1) } }
        var isMarked: Bool { datagram[1] & 0x80 != 0 }
    }

    var now = MonotonicTime.zero
    var inFlight: [(time: MonotonicTime, datagram: [UInt8])] = []
    private(set) var sent: [Sent] = []
    /// Whether there is room for more; without, what comes is still sent, as the media thread does later.
    var hasRoom = true
    /// Decides which media packets are lost.
    var loses: (_ packet: Sent) -> Bool = { _ in false }

    /// The narrow hop on the way, if there is one: its rate, and how long packets may wait there.
    var narrow: (rate: BitRate, queue: Interval)?
    private var freeAt = MonotonicTime.zero

    /// The media packets sent, lost ones too.
    var media: [Sent] { sent.filter { $0.kind == .rtp } }

    func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool {
        var entry = Sent(time: now, datagram: datagram, path: path, isLost: false)
        entry.isLost = entry.kind == .rtp && loses(entry)
        freeAt = max(freeAt, now)
        if let narrow, !entry.isLost {
            entry.isLost = freeAt - now > narrow.queue
            if !entry.isLost {
                freeAt =
                    freeAt
                    + Interval(
                        nanoseconds: Int64(datagram.count) * 8_000_000_000 / Int64(narrow.rate.bitsPerSecond))
            }
        }
        sent.append(entry)
        if !entry.isLost { inFlight.append((freeAt + Rig.delay, datagram)) }
        return hasRoom
    }
}

/// A track's source that remembers what it was asked, and hears what the host's own encoder is asked.
final class RecordingSource: PictureSource, TrackObserver {
    private struct State {
        var changesChroma = false
        var returnsTo444 = 0
        var keyFrameRequests = 0
        var pictureRequests = 0
        var watched: [Bool] = []
        var rates: [BitRate] = []
    }

    private let state = Mutex(State())

    /// How often somebody was asked for a key frame: the source, the host's own encoder or both.
    var keyFrameRequests: Int { state.withLock { $0.keyFrameRequests } }
    var pictureRequests: Int { state.withLock { $0.pictureRequests } }
    var watched: [Bool] { state.withLock { $0.watched } }
    var rates: [BitRate] { state.withLock { $0.rates } }
    /// How often it was asked for 4:4:4 again.
    var returnsTo444: Int { state.withLock { $0.returnsTo444 } }

    let makesKeyFrames = true
    let restsUnwatched = false
    var changesChroma: Bool {
        get { state.withLock { $0.changesChroma } }
        set { state.withLock { $0.changesChroma = newValue } }
    }

    func perform(_ action: TrackAction) {
        if case .makeKeyFrame = action { state.withLock { $0.keyFrameRequests += 1 } }
    }

    func requestKeyFrame() {}
    func requestPicture() { state.withLock { $0.pictureRequests += 1 } }
    func setWatched(_ isWatched: Bool) { state.withLock { $0.watched.append(isWatched) } }
    func setTargetBitRate(_ rate: BitRate) { state.withLock { $0.rates.append(rate) } }
    func setChroma(_ format: ChromaFormat) { state.withLock { $0.returnsTo444 += format == .yuv444 ? 1 : 0 } }
}

extension TrackHub {
    /// Makes `source` the track's.
    func connect(source: RecordingSource) {
        connect(source)
        #expect(attach(source, now: .zero))
    }

    /// Delivers a frame of the track's source.
    @discardableResult
    func publish(_ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime) -> TrackFrame? {
        source.flatMap { deliver(frame, from: $0, epoch: epoch, arrival: arrival) }
    }
}
