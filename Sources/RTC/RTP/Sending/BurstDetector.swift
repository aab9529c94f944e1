import MediaTypes

/// Detects losses in bursts from the packets that a peer requests.
///
/// Losses come in bursts where at least half of the requested packets follow another requested one, and two of them do:
/// of losses that are independent of each other, the share of those pairs is the share of the losses.
struct BurstDetector {
    private static let minPairs = 2
    /// Bursts are forgotten after this time, and so are requests.
    private static let memory = Interval.seconds(10)
    /// When so many packets have been requested, they count for half.
    private static let manyRequests = 64

    /// The number of packets requested lately, and how many of them follow another one.
    private var requests = (packets: 0, pairs: 0)
    private var lastRequestAt = MonotonicTime.zero
    private var lastCounted: SequenceNumber?
    private var lastBurstAt: MonotonicTime?

    /// Whether losses have come in bursts lately.
    func isBursty(at now: MonotonicTime) -> Bool { lastBurstAt.map { now - $0 < Self.memory } ?? false }

    /// Notes the packets that the peer requests, in the order of a NACK.
    mutating func requested(_ numbers: [SequenceNumber], at now: MonotonicTime) {
        if now - lastRequestAt > Self.memory { (requests, lastCounted) = ((0, 0), nil) }
        lastRequestAt = now
        // A packet that is requested again isn't lost again.
        let new = numbers.filter { number in lastCounted.map { $0.distance(to: number) > 0 } ?? true }
        let pairs = zip(new, new.dropFirst()).count { $0.next == $1 }
        requests = (requests.packets + new.count, requests.pairs + pairs)
        lastCounted = new.last ?? lastCounted
        if pairs > 0, requests.pairs >= Self.minPairs, requests.pairs * 2 >= requests.packets { lastBurstAt = now }
        if requests.packets > Self.manyRequests { requests = (requests.packets / 2, requests.pairs / 2) }
    }
}
