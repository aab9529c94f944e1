import MediaTypes

/// Decides when a picture is compared in full with the last one.
///
/// A compositor may send all of the desktop for each movement of the pointer, so that one picture after the other is
/// the same as the last one. Comparing all of its rows takes sixteen times as long as looking at one row of sixteen. If
/// nothing has changed for a while, the look therefore comes first. A picture that is the same there is compared in
/// full once no newer one has arrived for a while. As long as newer ones arrive, their samples are enough: sixteen of
/// them cover all rows.
struct ComparisonPace {
    /// How long after a change nothing waits, and how long a picture waits for a newer one.
    static let period = Interval.milliseconds(100)
    private var lastPicture = MonotonicTime.zero
    private var lastChange = MonotonicTime.zero

    /// When a picture that is there at `now` has to be compared in full; `now` if it may not wait. To be asked once
    /// for each picture, and again when that time has come.
    mutating func due(_ now: MonotonicTime) -> MonotonicTime {
        defer { lastPicture = now }
        return now < lastChange + Self.period || now >= lastPicture + Self.period ? now : now + Self.period
    }

    /// Notes that a full comparison has found a change.
    mutating func foundChange(at now: MonotonicTime) { lastChange = now }
}
