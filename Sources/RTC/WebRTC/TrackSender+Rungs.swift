import CongestionControl
import MediaTypes
import RTP
import TrackHub

/// How a session changes between the two rungs of its track.
extension TrackSender {
    /// The number of bytes that wait to be sent.
    var waitingBytes: Int {
        guard case .at(let number, _, _) = position else { return 0 }
        return feed.history.byteCount(from: number)
    }

    /// Changes to the narrow rung if the path is too slow for the source's frames, and back if it isn't any more.
    mutating func chooseRung(_ plan: SendingPlan, now: MonotonicTime) {
        guard sentUnits > 0 else { return }
        switch choice.rung {
        case .full:
            guard case .at(let number, _, _) = position else { return }
            let frames = Int(feed.history.next.rawValue &- number.rawValue)
            let bits = Int64(waitingBytes) * 8_000_000_000
            let wait = Interval(nanoseconds: bits / Int64(max(1, plan.target.bitsPerSecond)))
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
            if let start = start(of: fullFeed), !isLate(start, of: fullFeed, along: plan) {
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

    /// Begins anew at a key frame if what waits on the narrow rung would be more than a second old when it arrives,
    /// because the path has become slower still. A single large picture is not left out: no newer one waits. The other
    /// viewers of the rung may get the key frame too, so this is seldom done, however slow the path is.
    private mutating func skipOld(_ plan: SendingPlan, now: MonotonicTime) {
        guard case .at(let number, _, _) = position, feed.history.next.rawValue &- number.rawValue > 1,
            waitingBytes * 8 > plan.target.bitsPerSecond, waitingBytes > feed.keyFrameByteCount * 2,
            skippedAt.map({ now - $0 >= .seconds(10) }) ?? true
        else { return }
        // From a key frame that is being sent already, it would all be sent once more.
        if let start = start(of: feed), start <= number, !isLate(start, of: feed, along: plan) { return }
        skippedAt = now
        feed.lowerRate(to: max(plan.estimate, WatchedTracks.leastNarrow), now: now)
        stream.forgetSent()
        position = .waiting(askedAt: nil)
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
        // What is lost of the other rung isn't sent again.
        stream.forgetSent()
        position = .waiting(askedAt: nil)
    }
}
