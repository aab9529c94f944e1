import MediaTypes

/// When the overlay leaves the screen for a moment, so that the pixels beneath a dot that stays can be read again.
///
/// The X server has no pixels of what it doesn't show. So changes beside the overlay are taken as a sign of changes
/// beneath it. A rest takes as long as programs need to repaint: 150 ms as a rule (``CoveredTiles/settling``).
///
/// Pure; the time is an argument.
struct OverlayRest {
    /// How old the pixels beneath the overlay get before it is looked whether they are out of date.
    static let age = Interval.milliseconds(500)
    /// The minimum time between two looks.
    static let lookPeriod = Interval.milliseconds(250)
    /// The minimum time from one rest's beginning to the next. It doubles each time nothing beneath has changed, for
    /// example because a compositing manager surrounds the overlay with a shadow.
    static let shortestPeriod = Interval.seconds(1)
    static let longestPeriod = Interval.seconds(30)
    /// How long a rest takes at most: a program may not repaint at all.
    static let longest = Interval.milliseconds(500)

    /// Whether something was painted beside the overlay since it was looked at.
    private(set) var isTouched = false
    /// When the rest ends at the latest; nil while the overlay is on the screen.
    private(set) var end: MonotonicTime?
    private var nextLook = MonotonicTime.zero
    private var period = Self.shortestPeriod
    private var hasChanged = false

    /// When it is to be looked whether the pixels beneath the overlay are out of date.
    var due: MonotonicTime { isTouched && end == nil ? nextLook : .distantFuture }

    /// Notes that something was painted where the overlay is.
    mutating func touched() { isTouched = true }

    /// Has it looked later, because it isn't possible now, or no pixels are old enough.
    mutating func postpone(_ now: MonotonicTime) { nextLook = now + Self.lookPeriod }

    /// Notes that nothing has changed beside the overlay.
    mutating func foundNothing(_ now: MonotonicTime) {
        isTouched = false
        nextLook = now + Self.lookPeriod
    }

    /// Begins a rest. The caller takes the overlay off the screen.
    mutating func begin(_ now: MonotonicTime) {
        (isTouched, hasChanged, end) = (false, false, now + Self.longest)
        nextLook = now + period
    }

    /// Notes that pixels have been read which were out of date.
    mutating func foundChange() { hasChanged = true }

    /// Notes that the overlay is on the screen again, if it wasn't.
    mutating func finish() {
        guard let end else { return }
        self.end = nil
        period = hasChanged ? Self.shortestPeriod : min(period + period, Self.longestPeriod)
        nextLook = end - Self.longest + period
    }
}
