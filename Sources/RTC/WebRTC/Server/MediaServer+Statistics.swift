import Clocks
public import MediaSessions
public import MediaTypes

extension MediaServer {
    /// The statistics of every viewer's session, at most about a second old. Doesn't wait for the media threads.
    public var statistics: [PeerStatistics] { group.loops.flatMap(\.statistics.sessions) }

    public func statistics(of session: MediaSessionID) -> PeerStatistics? {
        group.loops[group.loop(of: session)].statistics.sessions.first { $0.id == session }
    }

    /// What was sent to all viewers so far, at most about a second old.
    public var totals: MediaTotals {
        group.loops.reduce(into: MediaTotals()) { $0.add($1.statistics.totals) }
    }

    /// The measurements of each media thread. Doesn't wait for the threads.
    public var threadStatistics: [MediaThreadStatistics] {
        let now = MonotonicTime.now()
        return group.loops.map { loop in
            MediaThreadStatistics(
                sessions: loop.statistics.sessions.count, lag: loop.statistics.load.lag.worst(at: now),
                totals: loop.statistics.totals)
        }
    }

    /// How late a media thread has made its sessions at most, in the last second or two; 0 while all of them rest.
    public var lag: Interval { group.lag(now: .now()) }

    /// Whether all media threads are overloaded: sources make fewer frames, and new sessions are refused.
    public var isOverloaded: Bool { group.isOverloaded(at: .now()) }
}
