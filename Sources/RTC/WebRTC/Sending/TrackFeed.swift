import CongestionControl
import MediaSessions
import MediaTypes
import RTP
import SecureTransport
import Threading
import TrackHub

/// One layer of a track in the media thread: its frames are packetized once and kept once, for all sessions that watch
/// it. The source layer's feed also holds the low layer's feed, and counts its sessions too.
///
/// Belongs to the media thread.
final class TrackFeed {
    /// The packetized frames that sessions send, and retransmit, from. It always holds at least the frames that a new
    /// session begins with: its limits are wider than the cache's, and exceed the largest picture (8 MiB on the link),
    /// which takes a second to send.
    // Not checked at run time for overlapping accesses, which would take 3 % of the time of a thread with many viewers.
    @exclusivity(unchecked) private(set) var history: TrackHistory
    /// The key frame that a new session begins with; nil if there is none.
    private(set) var startFrame: FrameNumber?
    /// The chroma format of the last frame.
    private(set) var chroma = ChromaFormat.yuv420
    /// The number of sessions that watch the track.
    var sessionCount = 0
    /// The sessions that watch the track and send packets, connected or not, in the order in which they came. Only the
    /// source layer has them.
    var sessions: [PeerSession] = []
    /// The number of watching sessions that don't decode 4:4:4.
    var sessionCountWithout444 = 0

    /// The packet that a session is sending. All share it, because a session's own would be in no cache when its turn
    /// comes.
    @exclusivity(unchecked) var packet: [UInt8] = []

    let hub: TrackHub
    let layer: Layer
    /// The feed of the low layer; nil if no session has needed it yet.
    private(set) var low: TrackFeed?
    /// The last report to the track about the sessions' paths.
    private var paths = PathReport()
    /// Whether the source sends about as much as it may, so that it could use paths that carry more.
    private(set) var usesItsRate = false
    private var lostFrames: UInt64 = 0
    /// Whether the reader has given a frame. What it lost before the first key frame was of no use.
    private var hasBegun = false
    private var reader: TrackReader?
    /// The sending record of all sessions of the media thread.
    let record: SendingStatistics
    /// When the track's new frames were last read. How old a frame is, and how much came in the last second, is counted
    /// until then: in a long turn, much may have come since.
    private(set) var updatedAt = MonotonicTime.zero
    /// When the source was last asked for a key frame with which sessions return from the low layer; nil before.
    private var returnAskedAt: MonotonicTime?
    private static let returnInterval = Interval.seconds(2)
    private let owner = ThreadOwner()
    private let wake: @Sendable () -> Void
    /// The lowest number of a frame on the track that may still be shown.
    private(set) var firstShown: UInt64 = 0
    /// Behind the last frame of the history that was forgotten because the track has hidden it.
    private(set) var hiddenEnd = FrameNumber(0)
    /// The size of the last key frame; until there is one, the size of a screen full of text.
    private(set) var keyFrameByteCount = 150_000
    private var bytesSinceStart = 0
    private var framesSinceStart = 0
    /// Whether all frames since the last key frame show its picture, perhaps finer, except for a few pixels.
    private(set) var isUnchangedSinceStart = false
    /// A frame of this size shows no more than a blinking cursor.
    private static let smallByteCount = 64

    /// Creates a feed that reads `hub` once it has a session; `wake` wakes the media thread.
    init(
        hub: TrackHub, layer: Layer = .source, record: SendingStatistics = SendingStatistics(),
        wake: @escaping @Sendable () -> Void
    ) {
        self.hub = hub
        self.layer = layer
        self.record = record
        self.wake = wake
        packet.reserveCapacity(RTPPacket.maxDatagramByteCount + SRTPSession.rtcpRoom)
        // Frames of the two layers never have the same number, so that a session can't send one for the other again.
        history = TrackHistory(
            maxUnitCount: 512, maxByteCount: 12 << 20, maxAge: Interval(nanoseconds: .max),
            first: FrameNumber(layer == .source ? 0 : 1 << 40))
    }

    /// Adds a session to the low layer, whose path carries `rate`, and returns its feed.
    func subscribeLow(at rate: BitRate, now: MonotonicTime) -> TrackFeed {
        owner.check()
        let feed = low ?? TrackFeed(hub: hub, layer: .low, record: record, wake: wake)
        low = feed
        feed.sessionCount += 1
        feed.lowerRate(to: rate, now: now)
        return feed
    }

    /// Lowers the low layer's rate to `rate`, if that is less than so far, until ``adaptRates(to:now:)``.
    func lowerRate(to rate: BitRate, now: MonotonicTime) {
        paths.targets.append(rate)
        subscription().report(paths, now: now)
    }

    /// Reads the track's new frames on this layer and the low one. Returns true if there are any.
    func update(now: MonotonicTime) -> Bool {
        owner.check()
        updatedAt = now
        let hasLow = low?.update(now: now) == true
        if sessionCount == 0 {
            stopReading(now: now)
            return hasLow
        }
        let reader = subscription()
        let frames = reader.take()
        // Old frames are forgotten first. Frames that were hidden while they waited in the reader's queue are skipped.
        forgetHidden()
        for frame in frames where frame.number >= firstShown { append(frame) }
        restartAfterLoss(reader, isStuck: frames.isEmpty, now: now)
        if !frames.isEmpty { hasBegun = true }
        return !frames.isEmpty || hasLow
    }

    private func subscription() -> TrackReader {
        let reader = reader ?? hub.subscribe(to: layer, report: paths, wake: wake)
        self.reader = reader
        return reader
    }

    /// Ends the subscription, and with it the limits of the last viewer's path: nothing is read or kept without
    /// sessions, and the hub's cache serves the next viewer.
    private func stopReading(now: MonotonicTime) {
        reader?.end(now: now)
        reader = nil
        lostFrames = 0
        hasBegun = false
        startFrame = nil
        history.removeAll()
        paths = PathReport()
    }

    /// Requests a key frame if this thread was so slow that the reader's queue lost frames, and the hub has none to
    /// continue with before a key frame (`isStuck`).
    private func restartAfterLoss(_ reader: TrackReader, isStuck: Bool, now: MonotonicTime) {
        let lostFrames = reader.lostFrames
        defer { self.lostFrames = lostFrames }
        if hasBegun { record.drops.overloadFrames += Int(clamping: lostFrames &- self.lostFrames) }
        guard isStuck, lostFrames != self.lostFrames else { return }
        startFrame = nil
        requestKeyFrame(now: now)
    }

    /// Forgets the frames that the track has forgotten, for example because the sharer has paused. No viewer may see
    /// these frames: neither one who joins now, nor one who has not received all of them yet. Called before anything is
    /// sent.
    func forgetHidden() {
        owner.check()
        let first = hub.firstShown(of: layer)
        guard first > firstShown else { return }
        firstShown = first
        history.removeAll()
        hiddenEnd = history.next
        startFrame = nil
    }

    /// Asks for a key frame to begin with. The hub limits the rate of requests, and knows whether a key frame is
    /// already on its way to us.
    ///
    /// - Parameter isLate: whether there is a key frame that the session decodes, but too much has come after it.
    func requestKeyFrame(isLate: Bool = false, now: MonotonicTime) {
        owner.check()
        if isLate || startFrame != nil && !hub.hasSource {
            // In the second case there is a picture, but in a format that not all viewers decode, and no source to
            // change that. The host's own encoder handles it.
            hub.requestKeyFrame(of: layer, now: now)
        } else {
            hub.requestStart(of: layer, now: now)
        }
    }

    /// The bit rate of the frames of the last second.
    var bitRate: BitRate { history.bitRate(over: .seconds(1), until: updatedAt) }

    /// Asks the source for a key frame with which sessions return from the low layer. All viewers get it, so all
    /// sessions together ask once in 2 s.
    func requestReturn(now: MonotonicTime) {
        owner.check()
        if let returnAskedAt, now - returnAskedAt < Self.returnInterval { return }
        returnAskedAt = now
        hub.requestKeyFrame(now: now)
    }

    /// Whether sessions that don't decode 4:4:4 must end, because the track uses it and its source has no other format.
    var excludesSessionsWithout444: Bool {
        sessionCountWithout444 > 0 && chroma == .yuv444 && hub.excludes(viewerDecoding: .yuv420)
    }

    /// Asks the source for another picture of a screen that stands still.
    func requestPicture() {
        owner.check()
        hub.requestPicture()
    }

    /// Reports to the track the rates of the paths of `viewers`, which are all viewers in this thread. An audio source
    /// gets no targets from them: its rate is small and doesn't change.
    ///
    /// - Parameter share: the share of the source's frames that this thread can send in time, in per cent.
    func adaptRates(to viewers: [any TrackViewer], share: Int = 100, now: MonotonicTime) {
        owner.check()
        // The low layer has no frame that the source hasn't made.
        low?.report(viewers, share: 100, now: now)
        guard let rates = report(viewers, share: share, now: now) else { return }
        // The capture doesn't report its rate to the host.
        let allowed = min(rates.source, max(rates.carried, .usual)).bitsPerSecond
        usesItsRate = bitRate.bitsPerSecond > allowed * 85 / 100
    }

    /// Returns the rates of the track's encoders; nil if there is no session.
    @discardableResult
    private func report(_ viewers: [any TrackViewer], share: Int, now: MonotonicTime) -> SharedRates? {
        guard sessionCount > 0 else { return nil }
        let targets = viewers.compactMap { $0.targetBitRate(at: self) }
        paths = PathReport(
            targets: targets, carried: viewers.compactMap { $0.carriedBitRate(at: self) },
            returning: viewers.compactMap { $0.rateToReturn(to: self) },
            // Sound has no targets, and isn't thinned.
            share: targets.isEmpty ? 100 : share)
        return subscription().report(paths, now: now)
    }

    private func append(_ frame: TrackFrame) {
        let packetized = frame.format.codec.packetizer.packetize(frame.coded, at: frame.time, format: frame.format)
        let number = history.append(packetized, at: frame.arrival)
        chroma = frame.format.chroma
        if frame.coded.isRandomAccess {
            startFrame = number
            keyFrameByteCount = frame.coded.bytes.count
            bytesSinceStart = 0
            framesSinceStart = 0
            isUnchangedSinceStart = true
        } else if !frame.coded.isUnchanged, frame.coded.bytes.count > Self.smallByteCount {
            isUnchangedSinceStart = false
        }
        bytesSinceStart += frame.coded.bytes.count
        framesSinceStart += 1
        // A session begins with no more than the hub's cache would give it.
        let isPastLimits = bytesSinceStart > hub.limits.bytes || framesSinceStart > hub.limits.frames
        if !frame.coded.isRandomAccess, isPastLimits { startFrame = nil }
    }
}
