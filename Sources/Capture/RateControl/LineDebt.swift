import MediaTypes

/// What was coded and the line has not carried yet.
///
/// Kept in bytes: they stay when the rate changes, only the time that they need is another one. Never negative: an idle
/// line gives no credit beyond what the last second leaves (`LastSecond`).
struct LineDebt: Sendable {
    private var bytes: Double = 0
    private var asOf = MonotonicTime.zero

    /// The line has carried bytes until `now`.
    mutating func pay(until now: MonotonicTime, bytesPerSecond: Double) {
        guard now > asOf else { return }
        bytes = max(0, bytes - (now - asOf).seconds * bytesPerSecond)
        asOf = now
    }

    mutating func add(_ more: Double, bytesPerSecond: Double) {
        bytes += more
        limit(bytesPerSecond: bytesPerSecond)
    }

    /// A debt that would last for too long is let go: the picture must not stop for good.
    mutating func limit(bytesPerSecond: Double) {
        bytes = min(bytes, RateController.longestDebt.seconds * bytesPerSecond)
    }

    /// How long the line needs for it from the time it was last paid.
    func interval(bytesPerSecond: Double) -> Interval { Interval(nanoseconds: Int64(bytes / bytesPerSecond * 1e9)) }

    /// How long the line needs for it from `now`.
    func interval(at now: MonotonicTime, bytesPerSecond: Double) -> Interval {
        max(.zero, interval(bytesPerSecond: bytesPerSecond) - max(.zero, now - asOf))
    }
}
