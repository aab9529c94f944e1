import MediaTypes

/// Measures the queue on the path by the packets' one-way delays.
///
/// The clocks of the two ends differ by an unknown amount, so only differences from the least delay mean anything: the
/// time by which a packet is slower than the fastest one of the last 10 to 20 s was spent in queues.
struct PathDelay {
    /// How many packets the averages of ``spread`` and ``usualQueueingDelay`` remember.
    private static let memory = (short: 128.0, long: 1024.0)
    /// A packet that was delayed for longer than this has met more than jitter.
    private static let maxSpread = Interval.milliseconds(50)
    private static let maxUsualQueueingDelay = Interval.milliseconds(12)

    /// The least delay of the path, offset between the clocks included.
    private var base = WindowedMinimum(span: .seconds(10))
    /// The least delay of the last moments: a delay that no packet escapes is a standing queue.
    private var recent = WindowedMinimum(span: .milliseconds(60))
    private var origin: Int64?
    private var newestArrival: Int64 = .min
    private var latest = LatestArrivals()
    /// How much longer packets take than the fastest ones while there is no congestion, on average: jitter, and the
    /// bursts of single pictures.
    private(set) var spread = Interval.milliseconds(4)
    /// The standing queue on average while there is no congestion.
    private(set) var usualQueueingDelay = Interval.zero
    private var sampleCount = 8.0

    /// Records a packet's times, and returns its delay and its queueing delay.
    mutating func add(
        sentAt: MonotonicTime, arrivedAt: ReceiverTime, byteCount: Int
    ) -> (delay: Interval, queue: Interval) {
        let difference = arrivedAt.nanoseconds &- sentAt.nanoseconds
        let origin = origin ?? difference
        self.origin = origin
        let delay = Interval(nanoseconds: difference &- origin)
        base.add(delay, at: arrivedAt.nanoseconds)
        recent.add(delay, at: arrivedAt.nanoseconds)
        latest.add(delay: delay, at: arrivedAt, byteCount: byteCount)
        newestArrival = max(newestArrival, arrivedAt.nanoseconds)
        return (delay, queueing(delay) ?? .zero)
    }

    /// The queue that every packet of the last moments met.
    var queueingDelay: Interval { queueing(recent.value) ?? .zero }

    /// The queue that each of the last four packets met: it is news, but also the end of one large picture.
    var newestQueueingDelay: Interval { queueing(latest.minDelay) ?? .zero }

    /// How much longer `delay` is than the least one.
    private func queueing(_ delay: Interval?) -> Interval? {
        guard let delay, let base = base.value else { return nil }
        return delay - base
    }

    /// The rate at which the last four packets arrived. After a mere pause of the link, packets arrive fast.
    var newestRate: BitRate { latest.rate }

    /// A queue longer than this is more than jitter, so the link was busy while a packet waited in it.
    var busyThreshold: Interval { max(.milliseconds(6), spread.scaled(by: 1.5)) }

    /// Averages a packet's queueing delay while the path isn't congested: fast at first, and slowly later. While little
    /// is sent, it stays fast: jitter may begin at any time, and would be mistaken for a queue until it is known.
    mutating func update(queue: Interval, isLittleSent: Bool) {
        sampleCount = min(sampleCount + 1, isLittleSent ? Self.memory.short : Self.memory.long)
        spread = spread + (min(max(queue, .zero), Self.maxSpread) - spread).scaled(by: 1 / sampleCount)
        let standing = min(max(queueingDelay, .zero), Self.maxUsualQueueingDelay)
        usualQueueingDelay = usualQueueingDelay + (standing - usualQueueingDelay).scaled(by: 1 / sampleCount)
    }

    /// Forgets the queue of the last moments: it has drained in a pause.
    mutating func forgetRecent() {
        recent.reset()
        latest.removeAll()
    }

    /// Makes `delay` the path's own from now on: the receiver's clock has been set.
    mutating func begin(at delay: Interval) {
        forgetRecent()
        base.reset()
        base.add(delay, at: newestArrival)
        recent.add(delay, at: newestArrival)
    }

    /// Makes the present delay the path's own: a queue that doesn't drain however little is sent is not ours.
    mutating func acceptQueueingDelay() {
        guard let value = recent.value else { return }
        base.reset()
        base.add(value, at: newestArrival)
    }
}
