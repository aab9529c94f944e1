import MediaTypes

/// The bytes that were coded but that the link has not carried yet, and how much of the link was used lately.
///
/// The debt is kept in bytes: a change of the rate leaves them as they are and changes only the time that they need. It
/// is never negative: what an idle link could have carried is lost, except for what `unused` gives back.
struct LinkDebt: Sendable {
    private var bytes: Double = 0
    private var asOf = MonotonicTime.zero
    /// The seconds of link time that pictures took, of which older ones count less: after a second, half.
    private var used = 0.0

    /// Subtracts what the link has carried until `now`.
    mutating func pay(until now: MonotonicTime, bytesPerSecond: Double) {
        guard now > asOf else { return }
        let passed = (now - asOf).seconds
        bytes = max(0, bytes - passed * bytesPerSecond)
        used /= 1 + passed
        asOf = now
    }

    mutating func add(_ more: Double, bytesPerSecond: Double) {
        bytes += more
        used += min(more / bytesPerSecond, RateController.longestDebt.seconds)
        limit(bytesPerSecond: bytesPerSecond)
    }

    /// Caps the debt at `RateController.longestDebt`, so that the picture never stops for good.
    mutating func limit(bytesPerSecond: Double) {
        bytes = min(bytes, RateController.longestDebt.seconds * bytesPerSecond)
    }

    /// How long the link needs to carry the debt, from `now`.
    func interval(at now: MonotonicTime, bytesPerSecond: Double) -> Interval {
        max(.zero, Interval(nanoseconds: Int64(bytes / bytesPerSecond * 1e9)) - max(.zero, now - asOf))
    }

    /// How much of the last second before `now` was left unused, roughly.
    func unused(at now: MonotonicTime) -> Interval {
        Interval(nanoseconds: Int64(max(0, 1 - used / (1 + max(.zero, now - asOf).seconds)) * 1e9))
    }
}
