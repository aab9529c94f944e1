import MediaTypes

/// A token bucket that paces packets. A picture of usual size is sent at once; a key frame or a whole cache of pictures
/// is spread over time, so that a burst doesn't overrun buffers on the path.
struct Pacer {
    /// The rate at which packets are sent as long as nothing is known of the path, and the highest rate.
    static let fastest = BitRate(bitsPerSecond: 75_000_000)
    /// The number of full packets that may be sent at once, on a path that carries them within `longestBurst`.
    private static let burst: Int64 = 48
    private static let longestBurst = Interval.milliseconds(40)
    private static let fullPacket = 1200

    /// The rate of the packets after a burst.
    var rate = Pacer.fastest
    /// The time at which the bucket will be full again. The further it is after now, the more has been taken.
    private var fullAt = MonotonicTime(nanoseconds: .min / 2)

    /// Takes the tokens for a packet; returns false if it must wait until ``nextSlot(now:)``.
    mutating func take(_ byteCount: Int = fullPacket, now: MonotonicTime) -> Bool {
        guard fullAt - now < room else { return false }
        charge(byteCount, now: now)
        return true
    }

    /// Takes the tokens for a packet that is sent without waiting.
    mutating func charge(_ byteCount: Int, now: MonotonicTime) { fullAt = max(fullAt, now) + duration(byteCount) }

    /// The time to try again. Sending a few packets at a time saves wake-ups.
    func nextSlot(now: MonotonicTime) -> MonotonicTime { max(now + .milliseconds(1), fullAt - room) }

    private var room: Interval { min(duration(Self.fullPacket) * Self.burst, Self.longestBurst) }

    private func duration(_ byteCount: Int) -> Interval {
        Interval(nanoseconds: Int64(byteCount) * 8_000_000_000 / Int64(max(1, min(rate, Self.fastest).bitsPerSecond)))
    }
}
