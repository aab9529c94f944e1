import MediaTypes

/// The rate of the path's narrowest link, measured from the packets that waited in its queue: while a packet waits, the
/// link is busy, so the packets before it left as fast as the link allows.
struct BottleneckRates {
    /// Where less of the time than this is between packets without a loss, the queue overflows.
    private static let minBusyShare = 0.35
    /// So much longer the measurement must be then.
    private static let addedTime = Interval.milliseconds(140)

    /// The rate of the packets that followed each other without a loss. Where packets were lost in between, it is
    /// unknown whether the link carried them.
    private(set) var busy = RecentRate(span: .milliseconds(250))
    /// The time of those packets on the receiver's clock, added up.
    private var busyTime: Int64 = 0
    /// The rate of the packets that arrived since the last decrease, but were sent before it. Packets sent after it
    /// show the share of the link that is left to so few, if other flows use the link too.
    private(set) var drained = RecentRate(span: .milliseconds(250))
    /// The rate of all packets, including the times in which packets were lost.
    private var whole = RecentRate(span: .milliseconds(250))
    /// The rate that arrived, whether the link was busy or not.
    private(set) var acknowledgedBitRate = RecentRate(span: .milliseconds(400))
    private var lastNumber: Int64 = -1
    private var lastArrival = ReceiverTime(nanoseconds: 0)
    private var decreasedAt = MonotonicTime(nanoseconds: .min)

    /// Adds a packet that arrived `queue` later than the fastest ones. It waited if that is more than `threshold`, and
    /// if it was due before the one ahead of it had left: on a link that was faster a while ago, the time that a packet
    /// itself takes now looks like a queue, though it may follow a pause of the source.
    ///
    /// `rate` is the estimate, which limits the time that the packet itself takes.
    mutating func add(
        _ packet: SendTimeHistory.Packet, _ number: Int64, queue: Interval, threshold: Interval, rate: BitRate,
        at time: ReceiverTime
    ) {
        let byteCount = Int(packet.byteCount)
        acknowledgedBitRate.add(byteCount, at: time.nanoseconds)
        let follows = number == lastNumber + 1
        let pause = time - lastArrival - rate.time(for: byteCount)
        if queue <= threshold || follows && queue < pause {
            busy.reset()
            whole.reset(at: time.nanoseconds)
        } else {
            whole.add(byteCount, at: time.nanoseconds)
            if follows {
                busyTime &+= time.nanoseconds &- lastArrival.nanoseconds
                busy.add(byteCount, at: busyTime)
                if packet.sentAt < decreasedAt { drained.add(byteCount, at: busyTime) }
            }
        }
        lastNumber = number
        lastArrival = time
    }

    /// Records that the estimate was decreased: packets that arrive from now on measure the link again.
    mutating func decreased(at now: MonotonicTime) {
        decreasedAt = now
        busy.reset()
        drained.reset(at: busyTime)
    }

    /// The link's rate as far as the last packets show it, and for how long; for no time if they are too few.
    ///
    /// Where most of the time is between losses, the queue overflows, and no time of the link is unknown. But a burst
    /// of chance losses looks alike for a moment, so a longer measurement is required then.
    var present: (rate: BitRate, time: Interval) {
        if busy.measuredTime > whole.measuredTime.scaled(by: Self.minBusyShare) {
            return (busy.bitRate, busy.measuredTime)
        }
        return (whole.bitRate, max(whole.measuredTime - Self.addedTime, .zero))
    }
}
