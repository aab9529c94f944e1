public import MediaTypes

/// The measurements of one media thread, at most about a second old.
public struct MediaThreadStatistics: Sendable {
    /// The number of its viewers' sessions, connected or not. A push over WebRTC counts as a viewer.
    public var sessions: Int
    /// How late it has made its sessions at most, in the last second or two; 0 while it rests.
    public var lag: Interval
    /// What it has sent so far, including to former viewers.
    public var totals: MediaTotals

    public init(sessions: Int, lag: Interval, totals: MediaTotals) {
        self.sessions = sessions
        self.lag = lag
        self.totals = totals
    }
}
