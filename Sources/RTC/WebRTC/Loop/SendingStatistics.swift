import MediaSessions
import MediaTypes

/// What all sessions of a media server have sent. Belongs to the media thread.
final class SendingStatistics {
    /// How long frames took from their arrival at the hub until a session had sent their last packet.
    var times = DelayHistogram()
    /// What the sessions that have ended had sent.
    var ended = MediaTotals()

    /// What those and the given ones have sent.
    func totals(with sessions: [PeerStatistics]) -> MediaTotals {
        var totals = ended
        for session in sessions { totals.add(session) }
        totals.sending = times
        return totals
    }
}
