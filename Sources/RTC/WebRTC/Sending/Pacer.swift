import MediaTypes

/// A token bucket that paces packets. A picture of usual size is sent at once; a key frame or a whole cache of pictures
/// is spread over time, so that a burst doesn't overrun buffers on the path.
struct Pacer {
    /// The highest rate.
    static let fastest = BitRate(bitsPerSecond: 75_000_000)
    /// The number of full packets that may be sent at once, on a path that carries them within `maxBurst`.
    private static let burst: Int64 = 48
    private static let maxBurst = Interval.milliseconds(40)
    private static let maxWait = Interval.seconds(1)
    private static let fullPacket = 1200

    /// The rate of the packets after a burst.
    private(set) var rate = Pacer.fastest
    /// Whether packets are a probe. In a burst they would measure nothing.
    private var isProbing = false
    /// The time at which the bucket will be full again. The further it is after now, the more has been taken.
    private var fullAt = MonotonicTime(nanoseconds: .min / 2)

    /// Changes the rate. At a higher one, what has been taken is worth less time: a rate that is low only while a queue
    /// on the path drains, or while no feedback comes, would otherwise hold up packets long after it has risen again.
    mutating func setRate(_ rate: BitRate, isProbing: Bool = false, now: MonotonicTime) {
        self.isProbing = isProbing
        let (old, new) = (bitsPerSecond, Self.bitsPerSecond(rate))
        self.rate = rate
        guard new > old, fullAt > now else { return }
        fullAt = now + Interval(nanoseconds: Int64(Double((fullAt - now).nanoseconds) * Double(old) / Double(new)))
    }

    /// Takes the tokens for a packet; returns false if it must wait until ``nextSendTime(now:)``.
    mutating func tryConsume(_ byteCount: Int, now: MonotonicTime) -> Bool {
        guard fullAt - now < room else { return false }
        consume(byteCount, now: now)
        return true
    }

    /// Takes the tokens for a packet that is sent without waiting. Other packets wait for it, but no longer than
    /// ``maxWait``: if nothing were sent, no feedback could come and raise the rate.
    mutating func consume(_ byteCount: Int, now: MonotonicTime) {
        fullAt = min(max(fullAt, now) + duration(byteCount), now + Self.maxWait)
    }

    /// The number of bytes that may be sent without waiting so that other packets wait for them no longer than 100 ms,
    /// or on a slow path than two packets take: it is never so busy with others that nothing could be sent again.
    func room(now: MonotonicTime) -> Int {
        let maxTime = max(.milliseconds(100), room + duration(2 * Self.fullPacket))
        let time = max(.zero, now + maxTime - max(fullAt, now))
        let bytes = Int(time.nanoseconds / 1000) * bitsPerSecond / 8_000_000
        return fullAt <= now ? max(bytes, 2 * Self.fullPacket) : bytes
    }

    /// The time to try again. Sending a few packets at a time saves wake-ups.
    func nextSendTime(now: MonotonicTime) -> MonotonicTime { max(now + .milliseconds(1), fullAt - room) }

    private var room: Interval {
        isProbing ? .milliseconds(2) : min(duration(Self.fullPacket) * Self.burst, Self.maxBurst)
    }

    private func duration(_ byteCount: Int) -> Interval {
        Interval(nanoseconds: Int64(byteCount) * 8_000_000_000 / Int64(bitsPerSecond))
    }

    private var bitsPerSecond: Int { Self.bitsPerSecond(rate) }

    private static func bitsPerSecond(_ rate: BitRate) -> Int { max(1, min(rate, fastest).bitsPerSecond) }
}
