import MediaTypes

/// How often transport-wide feedback arrives, and how soon after the packets.
struct FeedbackTiming {
    private var receivedAt: MonotonicTime?
    private var interval = Interval.milliseconds(100)
    /// How long the last feedback waited to be read: a busy thread learns so much later what the path has delivered.
    private var wait = Interval.zero
    private var minResponseTime = WindowedMinimum(span: .seconds(10))

    private static let maxInterval = Interval.milliseconds(300)
    /// A thread that stood still for longer has sent nothing meanwhile.
    private static let maxWait = Interval.seconds(1)
    private static let unknownResponseTime = Interval.milliseconds(200)
    /// A path is silent if more is unreported than the estimate carries in the response time, the usual time between
    /// feedback, the wait and this, and more than so many bytes.
    private static let silence = (time: Interval.milliseconds(150), byteCount: 16_000.0)

    /// Notes that feedback arrived at `arrival`, and is read at `now`.
    mutating func received(at arrival: MonotonicTime, readAt now: MonotonicTime) {
        if let receivedAt { interval = interval + (min(arrival - receivedAt, Self.maxInterval) - interval) / 8 }
        receivedAt = arrival
        wait = min(now - arrival, Self.maxWait)
    }

    /// Notes that feedback that arrived at `arrival` has reported a packet that was sent at `sentAt`, the newest one
    /// that the peer has received.
    mutating func reported(packetSentAt sentAt: MonotonicTime, at arrival: MonotonicTime) {
        minResponseTime.add(arrival - sentAt, at: arrival.nanoseconds)
    }

    /// The time from sending a packet to the arrival of the feedback about it.
    var responseTime: Interval { minResponseTime.value ?? Self.unknownResponseTime }

    /// Whether so much is unreported that feedback must be late or lost: more than the path can hold without a long
    /// queue, and what was sent while feedback waited to be read.
    func isSilent(unreportedBytes: Int, estimate: BitRate) -> Bool {
        let held = estimate.byteCount(in: responseTime + interval + wait + Self.silence.time)
        return Double(unreportedBytes) > max(held, Self.silence.byteCount)
    }
}
