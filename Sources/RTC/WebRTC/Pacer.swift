import MediaTypes

/// A token bucket of packets: a picture of common size goes out at once, an IDR or a cache full of pictures in steps, so
/// that a burst doesn't overrun the buffers on its way.
struct Pacer {
    /// Packets that may go at once.
    private static let burst: Int64 = 48
    /// The time that one packet of 1200 bytes takes after the burst: about 75 Mbit/s.
    private static let spacing = Interval.microseconds(128)

    /// When the bucket would be full; later than now means that so much was taken.
    private var fullAt = MonotonicTime(nanoseconds: .min / 2)

    /// Takes one packet; false where it must wait until ``nextSlot(now:)``.
    mutating func take(now: MonotonicTime) -> Bool {
        let start = max(fullAt, now)
        guard start - now < Self.spacing * Self.burst else { return false }
        fullAt = start + Self.spacing
        return true
    }

    /// When some packets may go again: a few at a time, for fewer wake-ups.
    func nextSlot(now: MonotonicTime) -> MonotonicTime { now + .milliseconds(1) }
}
