import CongestionControl
import MediaSessions
import MediaTypes
import RTP
import SecureTransport
import Threading
import TrackHub

/// A viewer of tracks, whose path limits what encoders may send. Belongs to the media thread.
protocol TrackViewer {
    /// The bit rate that the source of `feed`, or the low layer's encoder, may send for this session; nil if the
    /// session gets the other layer.
    func targetBitRate(at feed: TrackFeed) -> BitRate?
    /// The bit rate that the session's path has been seen to carry, for the source of `feed`; nil if the session gets
    /// the other layer.
    func carriedBitRate(at feed: TrackFeed) -> BitRate?
    /// The bit rate for the source of `feed` at which this session can return to the source layer: its path's rate,
    /// less a quarter. Nil if the path carries less than any source is asked for, or if the feed has no pictures.
    func rateToReturn(to feed: TrackFeed) -> BitRate?
}

/// The tracks of a source that a session's peer watches. Belongs to the media thread.
final class WatchedTracks: TrackViewer {
    private let owner = ThreadOwner()
    private let tracks: [(track: WatchedTrack, feed: TrackFeed)]
    /// One for each track of pictures; empty until the keys are established, because a sender needs far more memory
    /// than an unanswered offer should cost.
    // Not checked at run time for overlapping accesses, which would take 3 % of the time of a thread with many viewers.
    @exclusivity(unchecked) private var senders: [PictureSender] = []
    /// The sender of the sound; nil until the keys are established, and for good if the session has no sound.
    @exclusivity(unchecked) private var sound: AudioSender?
    @exclusivity(unchecked) private var path = PathControl(hasTransportFeedback: false, now: .zero)
    private var hasToldFault = false
    /// Whether the peer is gone, perhaps for a while only.
    private var isAway = false
    /// The last round trip that the peer's reports have shown, those on the sound if none are on pictures; nil before.
    var roundTripTime: Interval? { (senders.isEmpty ? nil : senders[0].track.roundTripTime) ?? sound?.roundTripTime }
    /// Whether the last datagram of RTCP had only feedback about what has arrived, and nothing waits for it.
    private(set) var onlyHeard = false
    /// Whether there is something for the log: see ``takeNews()``.
    private(set) var hasNews = false
    private var onPointerChange: ((PointerChange) -> Void)?
    /// How long the peer wants its pictures held back; nil leaves that to the peer.
    var requestedPlayoutDelay: Interval?

    /// The tracks, each read from the feed that `feed` returns for its hub. The session counts there until ``leave()``.
    init(_ tracks: [WatchedTrack], feed: (TrackHub) -> TrackFeed) {
        self.tracks = tracks.map { ($0, feed($0.hub)) }
        changeFeedCounts(by: 1)
    }

    /// The feeds of the tracks.
    var feeds: [TrackFeed] { tracks.map(\.feed) }

    /// Whether the peer watches the track of `feed`, but doesn't decode it in 4:4:4.
    func lacks444(at feed: TrackFeed) -> Bool {
        tracks.contains { $0.feed === feed && $0.track.formats.decodes == .yuv420 }
    }

    /// Ends the session's part in the feeds.
    func leave() {
        owner.check()
        for sender in senders { sender.leave() }
        changeFeedCounts(by: -1)
    }

    func targetBitRate(at feed: TrackFeed) -> BitRate? {
        guard takes(feed) else { return nil }
        if feed.layer == .source { return max(Self.minSourceRate, path.encoderBitRate) }
        let rate = max(Self.minLowRate, path.encoderBitRate)
        // A queue that the source layer has left delays each frame until it has drained: at a lower rate, it drains.
        return path.plan.queueingDelay > Self.longQueue ? BitRate(bitsPerSecond: rate.bitsPerSecond / 4) : rate
    }

    /// Longer than the queue that a frame of the low layer makes for itself.
    private static let longQueue = Interval.milliseconds(200)

    func carriedBitRate(at feed: TrackFeed) -> BitRate? {
        takes(feed) ? path.carriedBitRate : nil
    }

    private func takes(_ feed: TrackFeed) -> Bool {
        !isAway && senders.contains { $0.counts(for: feed) }
    }

    func rateToReturn(to feed: TrackFeed) -> BitRate? {
        guard !isAway, senders.contains(where: { $0.track.layers.source === feed }) else { return nil }
        return Self.rateToReturn(of: targetBitRate)
    }

    /// The bit rate for a source at which a session whose path carries `target` can return to it; nil if no source is
    /// asked for so little.
    static func rateToReturn(of target: BitRate) -> BitRate? {
        let rate = BitRate(bitsPerSecond: target.bitsPerSecond * 3 / 4)
        return rate < minSourceRate ? nil : rate
    }

    /// A source is asked for no less; the low layer is there for less than this.
    static let minSourceRate = BitRate(bitsPerSecond: 1_000_000)
    /// Text is still readable at this rate; a lower one would be useless.
    static let minLowRate = BitRate(bitsPerSecond: 200_000)

    private func changeFeedCounts(by change: Int) {
        for (track, feed) in tracks {
            feed.sessionCount += change
            if track.formats.decodes == .yuv420 { feed.sessionCountWithout444 += change }
            if track.extensions.available.contains(.samples) { feed.hub.changeCheckingViewers(by: change) }
        }
    }

    /// Starts to send; `roundTripTime` is the first estimate, if there is one.
    func begin(
        _ parameters: SessionParameters, protector: SRTPSession, roundTripTime: Interval?, now: MonotonicTime
    ) {
        owner.check()
        let pictures = tracks.filter { $0.track.formats.kind == .video }
        path = PathControl(
            hasTransportFeedback: pictures.contains { $0.track.extensions.available.contains(.transportNumber) },
            isOfServer: parameters.isOfServer, roundTripTime: roundTripTime, now: now)
        senders = pictures.map { track, feed in
            var sender = TrackSender(
                track, feed: feed, of: parameters, protector: protector, roundTripTime: roundTripTime, now: now)
            sender.pointer.isWatched = onPointerChange != nil
            return parameters.isOfServer ? ServerSender(sender) : PictureSender(sender)
        }
        sound = tracks.first { $0.track.formats.kind == .audio }.map { track, feed in
            AudioSender(
                track, feed: feed, of: parameters, protector: protector, roundTripTime: roundTripTime, now: now)
        }
    }

    /// Handles the packets of one RTCP datagram that arrived at `arrival`.
    func handle(_ packets: [RTCPPacket], arrival: MonotonicTime, now: MonotonicTime, send: ([UInt8]) -> Bool) {
        owner.check()
        onlyHeard = true
        for packet in packets {
            switch packet {
            case .transportFeedback(let feedback): path.take(feedback, arrival: arrival, now: now)
            case .estimatedMaximumBitRate(let estimate):
                path.take(estimate, now: now)
                onlyHeard = false
            default: onlyHeard = false
            }
        }
        if onlyHeard {
            makePlan(now: now)
            // More may be due at once for a sender whose pictures wait, or that gets less than the source sends.
            onlyHeard = !path.canPad
            for sender in senders where sender.track.isBehind { onlyHeard = false }
            return
        }
        sound?.handle(packets, along: &path, arrival: arrival, now: now, send: send)
        for sender in senders { sender.handle(packets, along: &path, arrival: arrival, now: now, send: send) }
        if !hasToldFault, path.reportFault != nil { hasNews = true }
    }

    /// Begins again with the last key frame. Sound goes on.
    func restart() {
        owner.check()
        for sender in senders { sender.track.restart() }
    }

    /// Sends what is due. Returns the time of the next call.
    ///
    /// - Parameter presence: whether the peer is there. If it is gone, nothing is sent, and its path counts for no
    ///   encoder.
    func advance(
        _ presence: ViewerPresence.State = .present, now: MonotonicTime, send: ([UInt8]) -> Bool
    ) -> MonotonicTime {
        owner.check()
        isAway = presence == .gone
        var deadline = MonotonicTime.distantFuture
        if isAway { return deadline }
        if presence == .returned {
            sound?.skipAll()
            for sender in senders { sender.track.skipBacklog(at: path.plan.estimate, now: now) }
        }
        makePlan(now: now)
        // Audio is sent before pictures, which wait for it.
        sound?.advance(along: &path, now: now, send: send)
        deadline = min(deadline, sound?.deadline ?? .distantFuture)
        let playoutDelay = self.playoutDelay(now)
        for sender in senders {
            sender.track.stream.playoutDelay = playoutDelay
            sender.advance(along: &path, keepsLayer: presence == .doubted, now: now, send: send)
            deadline = min(deadline, sender.track.deadline)
            if sender.track.layers.change != nil { hasNews = true }
            for change in sender.track.pointer.take() { onPointerChange?(change) }
        }
        if path.canPad, !isStalled, path.plan.probe != nil,
            let sender = senders.first(where: { $0.track.stream.lastSequenceNumber != nil })
        {
            let goesOn = sender.pad(along: &path, now: now, send: send)
            if goesOn { deadline = min(deadline, path.nextSendTime(now: now)) }
        }
        return deadline
    }

    private func makePlan(now: MonotonicTime) {
        var (waiting, getsLess, usesItsRate) = (0, false, false)
        for sender in senders {
            if let number = sender.track.position.frame {
                waiting += sender.track.layers.feed.history.byteCount(from: number)
            }
            if sender.track.layers.selector.mayProbe(now: now) { getsLess = true }
            if sender.track.layers.selector.layer == .source, sender.track.layers.source.usesItsRate {
                usesItsRate = true
            }
        }
        path.makePlan(waiting: waiting, getsLess: getsLess, usesItsRate: usesItsRate, now: now)
    }

    /// A peer that says nothing may let pictures wait for their sound while there is any.
    private func playoutDelay(_ now: MonotonicTime) -> PlayoutDelay {
        if let requestedPlayoutDelay { return .held(for: requestedPlayoutDelay) }
        guard let sentAt = sound?.sentAt, now - sentAt < Self.soundTimeout else { return .none }
        return .withSound
    }

    /// After so long a silence, there is nothing to wait for.
    private static let soundTimeout = Interval.seconds(2)

    /// Calls `onChange` for the first picture, and whenever the pointer starts or stops being drawn into the pictures.
    /// If pictures have already been sent, calls it at once.
    func watchPointer(_ onChange: @escaping (PointerChange) -> Void) {
        owner.check()
        onPointerChange = onChange
        for sender in senders {
            sender.track.pointer.isWatched = true
            if let last = sender.track.pointer.last { onChange(last) }
        }
    }

    /// Whether sending waits for room in the socket. Set it to false to continue sending.
    var isStalled: Bool {
        get { sound?.isStalled == true || senders.contains { $0.track.isStalled } }
        set {
            sound?.isStalled = newValue
            for sender in senders { sender.track.isStalled = newValue }
        }
    }

    /// The estimated bit rate that the peer's path can carry beside the sound.
    var targetBitRate: BitRate {
        let whole = path.targetBitRate
        guard let taken = sound?.bitRate, whole < .highest else { return whole }
        return BitRate(bitsPerSecond: max(0, whole.bitsPerSecond - taken.bitsPerSecond))
    }

    /// The lines to log: changes of the layer since the last call and, once, the fault of the peer's reports.
    func takeNews() -> [String] {
        hasNews = false
        let changes = senders.compactMap { sender in
            defer { sender.track.layers.change = nil }
            return sender.track.layers.change
        }
        guard !hasToldFault, let fault = path.reportFault else { return changes }
        hasToldFault = true
        return changes + ["sends receiver reports that are ignored: \(fault)"]
    }

    /// Adds the counts of sent media, and the state of the path, to `statistics`.
    func count(in statistics: inout PeerStatistics) {
        statistics.reportFault = path.reportFault
        if path.hasFeedback {
            statistics.estimate = path.plan.estimate
            statistics.queueDelay = path.plan.queueingDelay
        }
        if let sound {
            statistics.sentSoundPackets = sound.sentPackets
            statistics.sentPackets = Int(sound.stream.statistics.packetCount)
            statistics.sentOctets = sound.stream.statistics.octetCount
            statistics.roundTripTime = sound.roundTripTime
            statistics.lostPackets = sound.lostPackets
        }
        for sender in senders { sender.track.count(in: &statistics) }
    }
}
