import MediaSessions
import MediaTypes
import RTP
import TrackHub

/// What sends the frames of a track to one viewer, from one of the track's two layers.
protocol LayerSwitching {
    var layers: TrackLayers { get set }
    /// The number of pictures sent completely.
    var framesSent: Int { get }
    /// The frame of which something is sent next; nil while it waits for a key frame.
    var nextFrame: FrameNumber? { get }

    /// How long the unsent frames wait for a path that carries `target`.
    func wait(target: BitRate, now: MonotonicTime) -> Interval
    /// The key frame of `feed` that this session can begin with.
    func start(of feed: TrackFeed) -> FrameNumber?
    /// Waits for a key frame of the layers' feed. What was sent before is never retransmitted, because it may be of the
    /// other layer. Further skipped frames don't count, for the same reason.
    mutating func restartForgettingSent()
}

/// The rates that a viewer's path carries.
struct PathRates {
    /// The path's whole rate.
    var estimate: BitRate
    /// The rate for encoders: the estimate, less the part that must drain from the path's queue within a second.
    var target: BitRate
}

/// The two layers of a track, and the one that a session gets.
struct TrackLayers {
    /// The track's own feed.
    let source: TrackFeed
    /// The one of the track's two feeds that the session gets now.
    var feed: TrackFeed
    var selector = LayerSelector()
    /// What to log about the last change of the layer.
    var change: String?
    /// When frames of the low layer were last left out because they were old.
    var skippedAt: MonotonicTime?
    /// Behind the skipped frames that have been counted, while the session waits for the key frame that ends them.
    var skippedEnd: FrameNumber?

    /// The layers of a session that gets what `source` sends.
    init(source: TrackFeed) {
        self.source = source
        feed = source
    }

    /// Counts the frames from `number` on that the session skips, up to the key frame with which it can go on, if there
    /// is one. ``countSkipped(upTo:)`` counts those that follow. Frames that the track has hidden don't count.
    mutating func countSkipped(from number: FrameNumber) {
        let first = max(number, feed.hiddenEnd)
        let start = feed.startFrame.flatMap { $0 >= first ? $0 : nil }
        // Never before `first`, if all of them were hidden.
        let end = max(start ?? feed.history.next, first)
        feed.record.drops.slowPathFrames += Int(clamping: end.rawValue - first.rawValue)
        skippedEnd = end
    }

    /// Counts the frames that were skipped since ``countSkipped(from:)``: the session goes on with `start`.
    mutating func countSkipped(upTo start: FrameNumber) {
        guard let end = skippedEnd else { return }
        skippedEnd = nil
        let first = max(end, feed.hiddenEnd)
        if start > first { feed.record.drops.slowPathFrames += Int(clamping: start.rawValue - first.rawValue) }
    }

    /// Ends the session's part in the low layer, if it has one.
    func unsubscribeLow() {
        if feed.layer == .low { feed.sessionCount -= 1 }
    }
}

extension TrackFeed {
    /// Whether the frames after the key frame `start` would occupy a path of this rate for longer than half a second.
    func isLate(_ start: FrameNumber, at estimate: BitRate) -> Bool {
        history.byteCount(from: start.next) > estimate.bitsPerSecond / 16
    }
}

/// How a session changes between the two layers of its track.
extension LayerSwitching {
    /// The number of bytes that wait to be sent.
    var waitingBytes: Int { nextFrame.map { layers.feed.history.byteCount(from: $0) } ?? 0 }

    /// Changes to the low layer if the path is too slow for the source's frames, and back if it isn't any more.
    mutating func selectLayer(_ plan: PathRates, now: MonotonicTime) {
        guard framesSent > 0 else { return }
        switch layers.selector.layer {
        case .source:
            guard let number = nextFrame else { return }
            let frames = Int(layers.feed.history.next.rawValue &- number.rawValue)
            let wait = wait(target: plan.target, now: now)
            guard layers.selector.leavesSource(wait: wait, frames: frames, now: now) else { return }
            layers.countSkipped(from: number)
            change(to: layers.source.subscribeLow(at: max(plan.estimate, WatchedTracks.minLowRate), now: now))
            layers.change =
                "gets fewer pictures: \(frames) pictures would have waited \(wait.milliseconds) ms; its path carries "
                + "\(plan.estimate.bitsPerSecond / 1000) kbit/s"
        case .low:
            skipOld(plan, now: now)
            let sourceRate = layers.source.bitRate
            guard layers.selector.wantsSource(target: plan.target, sourceRate: sourceRate, now: now),
                layers.source.keyFrameByteCount * 8 <= plan.target.bitsPerSecond
            else { return }
            if let start = start(of: layers.source), !layers.source.isLate(start, at: plan.estimate) {
                layers.selector.returnToSource(now: now)
                change(to: layers.source)
                layers.change =
                    "gets all pictures again: its path carries \(plan.estimate.bitsPerSecond / 1000) kbit/s, and the "
                    + "source sends \(sourceRate.bitsPerSecond / 1000) kbit/s"
            } else {
                layers.source.requestReturn(now: now)
            }
        }
    }

    /// Skips to a key frame if what waits on the low layer would be more than a second old when it arrives, because
    /// the path has become slower still. A single large picture is not left out: no newer one waits. The other viewers
    /// of the layer may get the key frame too, so this is seldom done, however slow the path is.
    private mutating func skipOld(_ plan: PathRates, now: MonotonicTime) {
        guard let number = nextFrame, layers.feed.history.next.rawValue &- number.rawValue > 1,
            waitingBytes * 8 > plan.target.bitsPerSecond, waitingBytes > layers.feed.keyFrameByteCount * 2,
            layers.skippedAt.map({ now - $0 >= .seconds(10) }) ?? true
        else { return }
        // From a key frame that is being sent already, it would all be sent again.
        let start = start(of: layers.feed)
        if let start, start <= number, !layers.feed.isLate(start, at: plan.estimate) { return }
        layers.skippedAt = now
        layers.feed.lowerRate(to: max(plan.estimate, WatchedTracks.minLowRate), now: now)
        restartForgettingSent()
        layers.countSkipped(from: number)
    }

    private mutating func change(to feed: TrackFeed) {
        layers.unsubscribeLow()
        layers.feed = feed
        restartForgettingSent()
    }
}
