import MediaTypes

/// How often transport-wide feedback arrives, and how soon after the packets.
struct FeedbackTiming {
    private var receivedAt: MonotonicTime?
    private var interval = Interval.milliseconds(100)
    private var minResponseTime = WindowedMinimum(span: .seconds(10))

    private static let maxInterval = Interval.milliseconds(300)
    private static let unknownResponseTime = Interval.milliseconds(200)
    /// A path is silent if more is on its way than the estimate carries in the response time, the usual time between
    /// feedback and this, and more than so many bytes.
    private static let silence = (time: Interval.milliseconds(150), byteCount: 16_000.0)

    /// Notes that feedback has arrived.
    mutating func received(at now: MonotonicTime) {
        if let receivedAt { interval = interval + (min(now - receivedAt, Self.maxInterval) - interval) / 8 }
        receivedAt = now
    }

    /// Notes that feedback has reported a packet that was sent at `sentAt`, the newest one that arrived.
    mutating func reported(packetSentAt sentAt: MonotonicTime, at now: MonotonicTime) {
        minResponseTime.add(now - sentAt, at: now.nanoseconds)
    }

    /// The time from sending a packet to the feedback about it.
    var responseTime: Interval { minResponseTime.value ?? Self.unknownResponseTime }

    /// Whether so much is on its way that feedback must be late or lost: more than the path can hold without a long
    /// queue.
    func isSilent(unreportedBytes: Int, estimate: BitRate) -> Bool {
        let held = estimate.byteCount(in: responseTime + interval + Self.silence.time)
        return Double(unreportedBytes) > max(held, Self.silence.byteCount)
    }
}
