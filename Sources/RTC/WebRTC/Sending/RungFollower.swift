import MediaTypes
import RTP
import TrackHub

/// What sends the frames of a track to one viewer, from one of the track's two rungs.
protocol RungFollower {
    /// The track's own feed, and the one of its two that the session gets now.
    var fullFeed: TrackFeed { get }
    var feed: TrackFeed { get set }
    var choice: RungChoice { get set }
    /// What to log about the last change of the rung.
    var rungChange: String? { get set }
    var fullKeyFrameAskedAt: MonotonicTime? { get set }
    /// When frames of the narrow rung were last left out because they were old.
    var skippedAt: MonotonicTime? { get set }
    /// The number of pictures sent completely.
    var framesSent: Int { get }
    /// The frame of which something is sent next; nil while it waits for a key frame.
    var nextFrame: FrameNumber? { get }

    /// How long what is not yet sent waits for a path that carries `target`.
    func wait(target: BitRate, now: MonotonicTime) -> Interval
    /// The key frame of `feed` that this session can begin with.
    func start(of feed: TrackFeed) -> FrameNumber?
    /// Waits for a key frame of ``feed`` to begin with. What was sent before is not sent again.
    mutating func beginAnew()
}

/// What a viewer's path carries.
struct PathRates {
    /// All of it.
    var estimate: BitRate
    /// What encoders may send: the estimate, less what must drain from the path's queue within a second.
    var target: BitRate
}

/// How a session changes between the two rungs of its track.
extension RungFollower {
    /// The number of bytes that wait to be sent.
    var waitingBytes: Int { nextFrame.map { feed.history.byteCount(from: $0) } ?? 0 }

    /// Whether what came after the key frame `start` of `feed` would take a path of this rate longer than half a
    /// second.
    func isLate(_ start: FrameNumber, of feed: TrackFeed, at estimate: BitRate) -> Bool {
        feed.history.byteCount(from: start.next) > estimate.bitsPerSecond / 16
    }

    /// Changes to the narrow rung if the path is too slow for the source's frames, and back if it isn't any more.
    mutating func chooseRung(_ plan: PathRates, now: MonotonicTime) {
        guard framesSent > 0 else { return }
        switch choice.rung {
        case .full:
            guard let number = nextFrame else { return }
            let frames = Int(feed.history.next.rawValue &- number.rawValue)
            let wait = wait(target: plan.target, now: now)
            guard choice.leavesFull(wait: wait, frames: frames, now: now) else { return }
            change(to: fullFeed.joinNarrow(at: max(plan.estimate, WatchedTracks.leastNarrow), now: now))
            rungChange =
                "gets fewer pictures: \(frames) pictures would have waited \(wait.milliseconds) ms; its path carries "
                + "\(plan.estimate.bitsPerSecond / 1000) kbit/s"
        case .narrow:
            skipOld(plan, now: now)
            let sourceRate = fullFeed.history.bitRate(over: .seconds(1), until: now)
            guard choice.wantsFull(target: plan.target, sourceRate: sourceRate, now: now),
                fullFeed.keyFrameByteCount * 8 <= plan.target.bitsPerSecond
            else { return }
            if let start = start(of: fullFeed), !isLate(start, of: fullFeed, at: plan.estimate) {
                choice.returnToFull(now: now)
                change(to: fullFeed)
                rungChange =
                    "gets all pictures again: its path carries \(plan.estimate.bitsPerSecond / 1000) kbit/s, and the "
                    + "source sends \(sourceRate.bitsPerSecond / 1000) kbit/s"
            } else if fullKeyFrameAskedAt.map({ now - $0 >= .seconds(2) }) ?? true {
                fullKeyFrameAskedAt = now
                fullFeed.hub.requestKeyFrame(now: now)
            }
        }
    }

    /// Skips to a key frame if what waits on the narrow rung would be more than a second old when it arrives, because
    /// the path has become slower still. A single large picture is not left out: no newer one waits. The other viewers
    /// of the rung may get the key frame too, so this is seldom done, however slow the path is.
    private mutating func skipOld(_ plan: PathRates, now: MonotonicTime) {
        guard let number = nextFrame, feed.history.next.rawValue &- number.rawValue > 1,
            waitingBytes * 8 > plan.target.bitsPerSecond, waitingBytes > feed.keyFrameByteCount * 2,
            skippedAt.map({ now - $0 >= .seconds(10) }) ?? true
        else { return }
        // From a key frame that is being sent already, it would all be sent again.
        if let start = start(of: feed), start <= number, !isLate(start, of: feed, at: plan.estimate) { return }
        skippedAt = now
        feed.lowerRate(to: max(plan.estimate, WatchedTracks.leastNarrow), now: now)
        beginAnew()
    }

    /// Whether the session gets the rung of `feed`.
    func takes(_ feed: TrackFeed) -> Bool { self.feed === feed }

    /// Ends the session's part in the narrow rung, if it has one.
    func leaveNarrow() {
        if feed.rung == .narrow { feed.sessionCount -= 1 }
    }

    private mutating func change(to feed: TrackFeed) {
        leaveNarrow()
        self.feed = feed
        beginAnew()
    }
}
