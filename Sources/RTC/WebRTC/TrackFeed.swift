import CongestionControl
import MediaTypes
import RTP
import TrackHub

/// One track in the media thread: its frames are packetized once and kept once, for all sessions that watch it.
///
/// Belongs to the media thread.
final class TrackFeed {
    /// The packetized frames that sessions send, and retransmit, from. It always holds at least the frames that a new
    /// session begins with: its limits are wider than the cache's, and exceed the largest picture (8 MiB on the link),
    /// which takes a second to send.
    private(set) var history = TrackHistory(
        maximumUnitCount: 512, maximumByteCount: 12 << 20, maximumAge: Interval(nanoseconds: .max))
    /// The key frame that a new session begins with; nil if there is none to begin with.
    private(set) var start: UnitNumber?
    /// The chroma format of the last frame.
    private var chroma = ChromaFormat.yuv420
    /// The number of sessions that watch the track.
    var sessionCount = 0
    /// The number of those sessions that don't decode 4:4:4.
    var limitedSessionCount = 0

    let hub: TrackHub
    private var lastTarget = LossBasedRate.highest
    private var lostFrames: UInt64 = 0
    private var reader: TrackReader?
    private let wake: @Sendable () -> Void
    private let limits = CacheLimits()
    /// The lowest number of a frame on the track that may still be shown.
    private var firstShown: UInt64 = 0
    private var bytesSinceStart = 0
    private var framesSinceStart = 0

    /// Creates a feed that reads `hub` once it has a session; `wake` wakes the media thread.
    init(hub: TrackHub, wake: @escaping @Sendable () -> Void) {
        self.hub = hub
        self.wake = wake
    }

    /// Takes the track's new frames since the last call. Returns true if there are any.
    func update(now: MonotonicTime) -> Bool {
        guard sessionCount > 0 else {
            // Nobody watches, so nothing is read or kept; the hub's cache serves the next viewer.
            reader = nil
            start = nil
            // The source need not keep to the rate of the last viewer's path either.
            adaptRate(to: [LossBasedRate.highest], now: now)
            return false
        }
        let reader = self.reader ?? hub.subscribe(wake: wake)
        self.reader = reader
        let frames = reader.take()
        // This comes before the new frames, so it removes only old ones; frames that were hidden while they waited in
        // the reader's queue are skipped below.
        forgetHidden()
        for frame in frames where frame.number >= firstShown { append(frame, now: now) }
        let lostFrames = reader.lostFrames
        if frames.isEmpty, lostFrames != self.lostFrames {
            // We were so slow that pictures were lost, and the hub has nothing to continue with before a key frame.
            start = nil
            requestKeyFrame(now: now)
        }
        self.lostFrames = lostFrames
        return !frames.isEmpty
    }

    /// Forgets the frames that the track has forgotten, for example because the sharer has paused. Nobody may see what
    /// was there before: neither a viewer who joins now, nor one who has not received all of it yet. Called before
    /// anything is sent.
    func forgetHidden() {
        guard hub.firstStart > firstShown else { return }
        firstShown = hub.firstStart
        history.removeAll()
        start = nil
    }

    /// Asks the source for a key frame to begin with. The hub limits the rate of requests, and knows whether a key
    /// frame is already on its way to us.
    func requestKeyFrame(now: MonotonicTime) {
        if start != nil, !hub.hasSource {
            // There is a picture, but in a format that not all viewers decode, and no source to change that. The host's
            // own encoder handles it.
            hub.requestKeyFrame(now: now)
        } else {
            hub.requestStart(now: now)
        }
    }

    /// Whether sessions that don't decode 4:4:4 must end, because the track uses it and its source has no other format.
    var excludesLimitedSessions: Bool {
        limitedSessionCount > 0 && chroma == .yuv444 && hub.excludes(viewerDecoding: .yuv420)
    }

    /// Asks the source for another picture of a screen that stands still.
    func requestPicture() {
        hub.requestPicture()
    }

    /// Tells the source the bit rate that its viewers' paths can carry, if that changed by more than 5 %.
    func adaptRate(to targets: [BitRate], now: MonotonicTime) {
        guard let target = sharedTarget(of: targets) else { return }
        let change = abs(target.bitsPerSecond - lastTarget.bitsPerSecond)
        guard change > lastTarget.bitsPerSecond / 20 else { return }
        lastTarget = target
        hub.changeTargetBitRate(to: target, now: now)
    }

    private func append(_ frame: TrackFrame, now: MonotonicTime) {
        let packetizer = frame.format.codec.packetizer
        let number = history.append(packetizer.packetize(frame.coded, at: frame.time, format: frame.format), at: now)
        chroma = frame.format.chroma
        if frame.coded.isRandomAccess {
            start = number
            bytesSinceStart = 0
            framesSinceStart = 0
        }
        bytesSinceStart += frame.coded.bytes.count
        framesSinceStart += 1
        let isPastLimits = bytesSinceStart > limits.bytes || framesSinceStart > limits.frames
        if !frame.coded.isRandomAccess, isPastLimits { start = nil }
    }
}
