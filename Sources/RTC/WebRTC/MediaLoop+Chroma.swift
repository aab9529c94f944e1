import MediaTypes
import TrackHub

extension MediaLoop {
    /// Ends the sessions that can't decode their track's current format.
    func excludeLimitedSessions(of feed: TrackFeed, now: MonotonicTime) {
        for session in sessions.all.filter({ $0.watched?.isLimited(at: feed) == true }) {
            session.close(now: now, reason: ChromaPolicy.exclusion)
            remove(session)
        }
    }

    /// Lets a track return to 4:4:4 once its last viewer without 4:4:4 has been gone long enough. A track without any
    /// viewers is checked when the next viewer joins.
    func pollChroma(now: MonotonicTime) {
        chromaDeadline = .distantFuture
        for feed in feeds.values {
            feed.hub.pollChroma(now: now)
            if let due = feed.hub.chromaDeadline { chromaDeadline = min(chromaDeadline, due) }
        }
    }
}
