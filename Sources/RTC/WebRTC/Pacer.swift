import MediaTypes

/// A token bucket that paces packets. A picture of usual size is sent at once; a key frame or a whole cache of pictures
/// is spread over time, so that a burst doesn't overrun buffers on the path.
struct Pacer {
    /// The number of packets that may be sent at once.
    private static let burst: Int64 = 48
    /// The interval between packets of 1200 bytes after the burst: about 75 Mbit/s.
    private static let spacing = Interval.microseconds(128)

    /// The time at which the bucket will be full again. The further it is after now, the more has been taken.
    private var fullAt = MonotonicTime(nanoseconds: .min / 2)

    /// Takes the token for one packet; returns false if the packet must wait until ``nextSlot(now:)``.
    mutating func take(now: MonotonicTime) -> Bool {
        let start = max(fullAt, now)
        guard start - now < Self.spacing * Self.burst else { return false }
        fullAt = start + Self.spacing
        return true
    }

    /// The time to try again. Sending a few packets at a time saves wake-ups.
    func nextSlot(now: MonotonicTime) -> MonotonicTime { now + .milliseconds(1) }
}
