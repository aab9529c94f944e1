import MediaTypes

/// Measures a path by the arrivals of packets: its queue, and the link's rate.
struct PathArrivals {
    private var clock = FeedbackClock()
    private(set) var delay = PathDelay()
    private var trendline = TrendlineEstimator()
    private(set) var link = BottleneckRates()
    private var trains = PacketTrainEstimator()

    /// How far the two clocks may drift apart within the memory of ``PathDelay``, and more.
    private static let clockError = Interval.milliseconds(50)
    /// A queue no longer than this, beyond twice the usual, is jitter.
    private static let shortQueue = Interval.milliseconds(10)
    /// The estimate stays so far below the rate that trains show. A browser that sleeps until the first packet of a
    /// train notes that one a little late, so the rate seems up to 3 % higher than it is, and it varies by some 2 %.
    private static let belowTrains = 0.93

    /// The time on the peer's clock that feedback gives as its reference.
    mutating func time(_ reference: Int32) -> ReceiverTime { clock.time(reference) }

    /// Adds a packet that arrived while the estimate is `rate`. Returns its delay, and the queue that it met.
    mutating func add(
        _ packet: SendTimeHistory.Packet, _ number: Int64, arrivedAt time: ReceiverTime, rate: BitRate,
        at now: MonotonicTime
    ) -> (delay: Interval, queue: Interval) {
        var (value, queue) = delay.add(sentAt: packet.sentAt, arrivedAt: time, byteCount: Int(packet.byteCount))
        if queue > now - packet.sentAt + Self.clockError {
            // It can't have waited for longer than since it was sent: the receiver's clock has been set.
            delay.begin(at: value)
            trendline = TrendlineEstimator()
            queue = .zero
        }
        link.add(packet, number, queue: queue, threshold: delay.busyThreshold, rate: rate, at: time)
        trains.add(packet, number, rate: rate, at: time)
        trendline.add(sentAt: packet.sentAt, delay: value, arrival: time)
        return (value, queue)
    }

    /// Learns the path's jitter from a packet that met `queue`, if there is no longer queue.
    mutating func learn(queue: Interval, isLittleSent: Bool) {
        guard delay.queueingDelay < Self.shortQueue + delay.usualQueueingDelay * 2 else { return }
        delay.update(queue: queue, isLittleSent: isLittleSent)
    }

    /// The observation that the rate is decided by.
    mutating func observation(
        mayRise: Bool, responseTime: Interval, at now: MonotonicTime
    ) -> AIMDRateControl.Observation {
        let present = link.present
        return AIMDRateControl.Observation(
            usage: trendline.usage(at: now), queueingDelay: delay.queueingDelay,
            newestQueueingDelay: delay.newestQueueingDelay,
            newestRate: delay.newestRate, spread: delay.spread, usualQueueingDelay: delay.usualQueueingDelay,
            busyRate: link.busy.bitRate, busyTime: link.busy.measuredTime,
            presentRate: present.rate, presentTime: present.time,
            drainedRate: link.drained.bitRate, drainedTime: link.drained.measuredTime,
            acknowledgedBitRate: link.acknowledgedBitRate.bitRate, mayRise: mayRise, responseTime: responseTime)
    }

    /// Makes the present queueing delay the path's own.
    mutating func acceptQueueingDelay() { delay.acceptQueueingDelay() }

    /// Forgets the queue of the last moments: nothing was sent meanwhile, and it has drained.
    mutating func forgetRecent() { delay.forgetRecent() }

    /// Notes that the rate was lowered because of the queue.
    mutating func decreased(at now: MonotonicTime) { link.decreased(at: now) }

    /// Forgets what trains have shown: a probe has shown more.
    mutating func forgetTrains() { trains.forget() }

    /// The most that the estimate may be, as trains show; nil if they show no end of the path.
    mutating func trainLimit(at now: MonotonicTime) -> BitRate? { trains.rate(at: now).map { $0 * Self.belowTrains } }
}
