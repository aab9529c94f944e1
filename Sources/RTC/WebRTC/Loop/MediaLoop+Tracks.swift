import Clocks
import MediaSessions
import MediaTypes
import Threading
import TrackHub

/// The tracks that the media thread's sessions watch: their feeds, their chroma format and their rates.
extension MediaLoop {
    /// Has the feeds that `session` watches know it. Each feed's sessions are a list of their own, because a frame
    /// concerns no others.
    func enlist(_ session: PeerSession) {
        for feed in session.watched?.feeds ?? [] where feed.sessions.last !== session { feed.sessions.append(session) }
    }

    /// Undoes ``enlist(_:)``.
    func delist(_ session: PeerSession) {
        for feed in session.watched?.feeds ?? [] { feed.sessions.removeAll { $0 === session } }
    }

    func feed(of hub: TrackHub) -> TrackFeed {
        owner.check()
        let key = ObjectIdentifier(hub)
        if let feed = feeds[key] { return feed }
        let wake = inbox.wake
        let feed = TrackFeed(hub: hub, record: record) { wake.signal() }
        feeds[key] = feed
        return feed
    }

    private var viewerCount: Int { sessions.all.count { $0.watched != nil } + frameViewers.count }

    // MARK: Pictures

    /// Reads the tracks' new frames. Returns the feeds that have some, for ``sendFrames(of:clock:)``.
    func updateFeeds(now: MonotonicTime) -> [TrackFeed] {
        owner.check()
        var fed: [TrackFeed] = []
        for (key, feed) in feeds {
            if feed.update(now: now) { fed.append(feed) }
            if feed.excludesSessionsWithout444 { excludeSessionsWithout444(of: feed, now: now) }
            // Without sessions, the track may still have readers that want 4:4:4 back.
            if feed.sessionCount == 0, feed.hub.chromaDeadline == nil { feeds[key] = nil }
        }
        return fed
    }

    /// Sends the new frames of `feeds` to all who watch them, to each at the time by then: congestion control would
    /// take the time that passes since the turn began for a queue on the path.
    func sendFrames(of feeds: [TrackFeed], clock: () -> MonotonicTime = { .now() }) {
        for feed in feeds {
            for session in feed.sessions where session.isConnected {
                session.advanceMedia(now: clock())
                note(session)
            }
            for id in frameViewers(at: feed) { withFrameViewer(id) { $0.advance(now: clock()) } }
        }
    }

    // MARK: Chroma

    /// Ends the sessions that can't decode their track's current format.
    func excludeSessionsWithout444(of feed: TrackFeed, now: MonotonicTime) {
        for session in sessions.all.filter({ $0.watched?.lacks444(at: feed) == true }) {
            session.close(now: now, reason: ChromaPolicy.exclusion)
            remove(session)
        }
        for id in frameViewers(at: feed) { endFrameViewer(id, ChromaPolicy.exclusion) }
    }

    /// Lets a track return to 4:4:4 once its last viewer without 4:4:4 has been gone long enough, even if no session
    /// watches it any more.
    func pollChroma(now: MonotonicTime) {
        chromaDeadline = .distantFuture
        for feed in feeds.values {
            feed.hub.pollChroma(now: now)
            if let due = feed.hub.chromaDeadline { chromaDeadline = min(chromaDeadline, due) }
        }
    }

    /// Whether to adapt rates now: at most five times a second after peers may have sent something, and once a second
    /// where only frames have come, such as audio packets.
    func isRateDecisionDue(_ now: MonotonicTime, mayHaveHeard: Bool) -> Bool {
        now >= (mayHaveHeard ? nextRateDecision : nextRateDecision + .milliseconds(800))
    }

    /// Adapts the tracks' rates, and shares the load and, less often, the statistics. It needs no wake-up of its own,
    /// since rates change only with peers' reports, and each connected session wakes the thread once a second.
    func adaptRates(now: MonotonicTime) {
        owner.check()
        nextRateDecision = now + .milliseconds(200)
        load.update(now: now)
        group.loops[index].statistics.set(load)
        if let line = load.takeLine(viewers: viewerCount, now: now) { lines.own.warning(line) }
        for feed in feeds.values {
            let viewers: [any TrackViewer] = feed.sessions.lazy.filter(\.isConnected).compactMap(\.watched)
            feed.adaptRates(
                to: viewers + frameViewers(at: feed).compactMap { frameViewers[$0] }, share: load.frameShare, now: now)
        }
        if now >= nextStatistics { shareStatistics(now: now) }
    }

    func shareStatistics(now: MonotonicTime) {
        // Not with each decision: that would write each session's address as text five times a second.
        nextStatistics = now + .milliseconds(500)
        let watching = sessions.all.filter { $0.watched != nil }.map(\.statistics)
        let statistics = watching + frameViewers.values.map(\.statistics)
        record.drops.tcpPackets = streams.lostCount
        record.drops.overloadPackets = group.loops[index].lostDatagrams
        record.sampleEstimates(of: statistics, now: now)
        group.loops[index].statistics.set(statistics, record)
    }
}
