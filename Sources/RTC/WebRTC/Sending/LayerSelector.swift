import MediaTypes
import TrackHub

/// Decides which layer of a track a session gets: what the source sends, or what the host encodes for narrow paths.
///
/// Pure: belongs to its caller.
struct LayerSelector {
    /// Frames that wait for the path no longer than this are on time.
    static let onTime = Interval.milliseconds(300)
    /// If they have waited longer than that for this time, the session changes to the low layer. A single large
    /// picture passes by until then, and would be large on the low layer too.
    private static let tolerance = Interval.milliseconds(500)
    /// If they wait longer than this, it changes at once.
    private static let tooLong = Interval.seconds(1)
    /// A session that changes back within this time waits longer the next time before it gets the source layer again.
    private static let relapse = Interval.seconds(60)
    private static let returnDelay = (least: Interval.seconds(1), most: Interval.seconds(30))
    /// After a return, the path's new end is looked for during this time.
    private static let search = Interval.seconds(5)

    /// The layer that the session gets now.
    private(set) var layer = Layer.source
    private var returnDelay = returnDelay.least
    /// Since when frames have been late on the source layer.
    private var lateSince: MonotonicTime?
    /// Since when the path carries what the source sends; nil if it doesn't.
    private var fitsSince: MonotonicTime?
    private var returnedAt: MonotonicTime?
    /// Whether the session has got all frames since it returned to the source layer, where it begins with a key frame.
    private var hasCaughtUp = true

    /// Whether to find out what the path carries by padding: the session gets less than the source sends, or did so
    /// until a moment ago and comes back with an estimate that is only just enough.
    func mayProbe(now: MonotonicTime) -> Bool {
        layer == .low || returnedAt.map { now - $0 < Self.search } ?? false
    }

    /// Takes the state of a session that gets the source layer. Returns whether it changes to the low one.
    ///
    /// - Parameters:
    ///   - wait: how long the path takes for the frames that wait.
    ///   - frames: their number. If only one waits, there is no newer one that the viewer could get instead.
    mutating func leavesSource(wait: Interval, frames: Int, now: MonotonicTime) -> Bool {
        guard frames > 1, wait > Self.onTime else {
            lateSince = nil
            hasCaughtUp = true
            return false
        }
        let since = lateSince ?? now
        lateSince = since
        guard now - since >= Self.tolerance || hasCaughtUp && wait > Self.tooLong else { return false }
        layer = .low
        lateSince = nil
        fitsSince = nil
        let isRelapse = returnedAt.map { now - $0 < Self.relapse } ?? false
        returnDelay = isRelapse ? min(returnDelay * 2, Self.returnDelay.most) : Self.returnDelay.least
        return true
    }

    /// Takes the state of a session that gets the low layer. Returns whether the path has carried as much as the
    /// source sends for long enough; ``returnToSource(now:)`` then makes the change.
    mutating func wantsSource(target: BitRate, sourceRate: BitRate, now: MonotonicTime) -> Bool {
        guard sourceRate.bitsPerSecond + sourceRate.bitsPerSecond / 20 <= target.bitsPerSecond else {
            fitsSince = nil
            return false
        }
        let since = fitsSince ?? now
        fitsSince = since
        return now - since >= returnDelay
    }

    /// The session gets the source layer again.
    mutating func returnToSource(now: MonotonicTime) {
        layer = .source
        returnedAt = now
        hasCaughtUp = false
    }
}
