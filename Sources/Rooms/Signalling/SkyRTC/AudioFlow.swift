import MediaTypes

/// The sound that is under way to a client, which confirms it: no more than the round trip and ``maxWait``. Where
/// the path or the client is slower, packets are left out, so that the buffers in between don't fill with old sound.
///
/// The round trip is the shortest one seen. One that has grown looks like a slow path. If sound has been left out for
/// ``timeout``, none is sent until all is confirmed: the next packet, which no other holds up, then measures the round
/// trip again.
///
/// Pure; the time is an argument.
struct AudioFlow {
    /// The round trip, before anything is known of it, and the longest that a client may claim.
    private static let usualRoundTrip = Interval.milliseconds(200)
    private static let maxRoundTrip = Interval.seconds(1)
    private static let timeout = Interval.seconds(10)

    /// The number of the last packet sent; 0 before the first.
    private(set) var last: UInt32 = 0
    /// The shortest time in which a packet was confirmed.
    private var roundTrip: Interval?
    /// When the unconfirmed packets were sent, in order. It ends with `last`.
    private var unconfirmed: [MonotonicTime] = []
    /// When sound was first left out, since when each confirmation has arrived late; nil if none was.
    private var crowdedSince: MonotonicTime?
    private let maxWait: Interval

    init(maxWait: Interval) { self.maxWait = maxWait }

    /// Numbers another packet, which is sent at `now`; nil if too much is under way.
    mutating func next(at now: MonotonicTime) -> UInt32? {
        let isDraining = crowdedSince.map { now - $0 > Self.timeout } ?? false
        if let oldest = unconfirmed.first {
            if isDraining { return nil }
            if now - oldest > (roundTrip ?? Self.usualRoundTrip) + maxWait {
                crowdedSince = crowdedSince ?? now
                return nil
            }
        } else if isDraining {
            (roundTrip, crowdedSince) = (nil, nil)
        }
        last &+= 1
        unconfirmed.append(now)
        return last
    }

    /// Records the client's confirmation of the packet `number` and of all before it. Returns false if nothing new is
    /// confirmed.
    mutating func confirm(through number: UInt32, at now: MonotonicTime) -> Bool {
        let rest = Int(last &- number)
        guard rest < unconfirmed.count else { return false }
        let sentAt = unconfirmed[unconfirmed.count - rest - 1]
        let least = min(roundTrip ?? Self.maxRoundTrip, now - sentAt)
        roundTrip = least
        if now - sentAt < least + maxWait / 2 { crowdedSince = nil }
        unconfirmed.removeFirst(unconfirmed.count - rest)
        return true
    }
}
