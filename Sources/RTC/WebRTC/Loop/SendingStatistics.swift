import MediaSessions
import MediaTypes

/// What all sessions of a media server have sent. Belongs to the media thread.
final class SendingStatistics {
    /// How long frames took from their arrival at the hub until a session had sent their last packet.
    var times = DelayHistogram()
    /// What the sessions that have ended had sent.
    var ended = MediaTotals()
    /// How often viewers have asked for a key frame.
    var keyFrameRequests = 0
    /// What was left out.
    var drops = MediaDrops()

    private var estimates = BitRateHistogram()
    private var nextSample = MonotonicTime.zero
    private static let sampleInterval = Interval.seconds(1)

    /// Adds the estimates of the sessions' paths, at most once per second.
    func sampleEstimates(of sessions: [PeerStatistics], now: MonotonicTime) {
        guard now >= nextSample else { return }
        nextSample = now + Self.sampleInterval
        for case let estimate? in sessions.map(\.estimate) { estimates.add(estimate) }
    }

    /// What those and the given ones have sent.
    func totals(with sessions: [PeerStatistics]) -> MediaTotals {
        var totals = ended
        for session in sessions { totals.add(session) }
        totals.sending = times
        totals.estimates = estimates
        totals.keyFrameRequests = keyFrameRequests
        totals.drops = drops
        return totals
    }
}
