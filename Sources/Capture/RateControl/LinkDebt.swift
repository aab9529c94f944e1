import MediaTypes

/// The bytes that were coded but that the link has not carried yet.
///
/// The debt is kept in bytes: a change of the rate leaves them as they are and changes only the time that they need. It
/// is never negative: an idle link gives no credit beyond what the last second leaves (`LastSecond`).
struct LinkDebt: Sendable {
    private var bytes: Double = 0
    private var asOf = MonotonicTime.zero

    /// Subtracts what the link has carried until `now`.
    mutating func pay(until now: MonotonicTime, bytesPerSecond: Double) {
        guard now > asOf else { return }
        bytes = max(0, bytes - (now - asOf).seconds * bytesPerSecond)
        asOf = now
    }

    mutating func add(_ more: Double, bytesPerSecond: Double) {
        bytes += more
        limit(bytesPerSecond: bytesPerSecond)
    }

    /// Caps the debt at `RateController.longestDebt`, so that the picture never stops for good.
    mutating func limit(bytesPerSecond: Double) {
        bytes = min(bytes, RateController.longestDebt.seconds * bytesPerSecond)
    }

    /// How long the link needs to carry the debt, from the time it was last paid.
    func interval(bytesPerSecond: Double) -> Interval { Interval(nanoseconds: Int64(bytes / bytesPerSecond * 1e9)) }

    /// How long the link needs to carry the debt, from `now`.
    func interval(at now: MonotonicTime, bytesPerSecond: Double) -> Interval {
        max(.zero, interval(bytesPerSecond: bytesPerSecond) - max(.zero, now - asOf))
    }
}
