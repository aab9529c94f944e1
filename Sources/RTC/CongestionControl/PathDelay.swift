import MediaTypes

/// What the one-way delays of packets say about the queue on the path.
///
/// The clocks of the two ends differ by an unknown amount, so only differences from the least delay mean anything: what
/// a packet took longer than the fastest one of the last 10 to 20 s, it spent in queues. All values are in
/// milliseconds.
struct PathDelay {
    /// The least delay of the path, offset between the clocks included.
    private var base = WindowedMinimum(span: 10_000_000_000)
    /// The least delay of the last moments: what no packet escapes is a standing queue.
    private var recent = WindowedMinimum(span: 60_000_000)
    private var origin: Double?
    private var newestArrival: Int64 = .min
    private var latest = LatestArrivals()
    /// How much longer packets take than the fastest ones while there is no congestion, on average: jitter, and the
    /// bursts of single pictures.
    private(set) var spread = 4.0
    /// The standing queue on average while there is no congestion.
    private(set) var usualQueueingDelay = 0.0
    private var sampleCount = 8.0

    /// Takes a packet's times and returns its delay, and its delay in queues.
    mutating func add(sentAt: MonotonicTime, arrivedAt: ReceiverTime, byteCount: Int) -> (delay: Double, queue: Double)
    {
        let difference = Double(arrivedAt.nanoseconds &- sentAt.nanoseconds) / 1e6
        let origin = origin ?? difference
        self.origin = origin
        let delay = difference - origin
        base.add(delay, at: arrivedAt.nanoseconds)
        recent.add(delay, at: arrivedAt.nanoseconds)
        latest.add(delay: delay, at: arrivedAt, byteCount: byteCount)
        newestArrival = max(newestArrival, arrivedAt.nanoseconds)
        return (delay, delay - base.value)
    }

    /// The queue that every packet of the last moments met.
    var queueingDelay: Double { recent.value.isFinite ? recent.value - base.value : 0 }

    /// The queue that each of the last four packets met: it is news, but also the end of one large picture.
    var newestQueueingDelay: Double { latest.leastDelay.map { $0 - base.value } ?? 0 }

    /// The rate at which the last four packets arrived. After a mere pause of the link they come fast.
    var newestRate: Double { latest.rate }

    /// A queue longer than this is more than jitter, so the link was busy while a packet waited in it.
    var busyThreshold: Double { max(6, spread * 1.5) }

    /// Takes what a packet waited while the path isn't congested. It learns fast at first, and slowly later. Where
    /// little is sent, it stays fast: jitter may begin at any time, and would be taken for a queue until it is sampleCount.
    mutating func update(queue: Double, isLittleSent: Bool) {
        sampleCount = min(sampleCount + 1, isLittleSent ? 128 : 1024)
        spread += (min(max(queue, 0), 50) - spread) / sampleCount
        usualQueueingDelay += (min(max(queueingDelay, 0), 12) - usualQueueingDelay) / sampleCount
    }

    /// Forgets the queue of the last moments: it has drained in a pause.
    mutating func forgetRecent() {
        recent.reset()
        latest.removeAll()
    }

    /// Takes this delay as the path's own from now on: the receiver's clock has been set.
    mutating func begin(at delay: Double) {
        forgetRecent()
        base.reset()
        base.add(delay, at: newestArrival)
        recent.add(delay, at: newestArrival)
    }

    /// Takes the present delay as the path's own: a queue that doesn't drain however little is sent is not ours.
    mutating func acceptQueueingDelay() {
        let value = recent.value
        guard value.isFinite else { return }
        base.reset()
        base.add(value, at: newestArrival)
    }
}
