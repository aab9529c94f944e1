import MediaTypes

/// Decides when a picture is compared in full with the last one.
///
/// A compositor may send all of the desktop for each movement of the pointer, so that one picture after the other is
/// the same as the last one. Comparing 1920x1080 pixels takes 1.4 ms, more than half of it for mapping their pages. If
/// nothing has changed for a while, a look at one row of sixteen therefore comes first, which takes 0.1 ms. A picture
/// that is the same there waits for a newer one, or for its full comparison.
struct ComparisonPace {
    /// How long a change may stay unseen. Until this long after a change, nothing waits.
    static let period = Interval.milliseconds(100)
    private var lastComparison = MonotonicTime.zero
    private var lastChange = MonotonicTime.zero

    /// When a picture that is there at `now` has to be compared in full; `now` if it may not wait.
    func due(_ now: MonotonicTime) -> MonotonicTime {
        now < lastChange + Self.period ? now : max(now, lastComparison + Self.period)
    }

    /// Notes a full comparison.
    mutating func compared(at now: MonotonicTime, foundChange: Bool) {
        lastComparison = now
        if foundChange { lastChange = now }
    }
}
