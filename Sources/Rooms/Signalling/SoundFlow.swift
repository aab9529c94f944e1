/// The sound that is under way to a client, which confirms it: no more than the round trip and ``longestWait``. Where the
/// path or the client is slower, packets are left out, so that the buffers in between don't fill with old sound.
///
/// Pure; times are in microseconds of one clock.
struct SoundFlow {
    /// The round trip, before anything is known of it, and the longest that a client may claim.
    private static let usualRoundTrip = 200_000
    private static let longestRoundTrip = 1_000_000

    /// The number of the last packet sent; 0 before the first.
    private(set) var last: UInt32 = 0
    /// The shortest time in which one was confirmed.
    private var roundTrip: Int?
    /// When those that aren't confirmed were sent, in order. It ends with `last`.
    private var unconfirmed: [Int] = []
    private let longestWait: Int

    init(longestWait: Int) { self.longestWait = longestWait }

    /// Numbers another packet, which is sent at `now`; nil if too much is under way.
    mutating func next(at now: Int) -> UInt32? {
        if let oldest = unconfirmed.first, now - oldest > (roundTrip ?? Self.usualRoundTrip) + longestWait {
            return nil
        }
        last &+= 1
        unconfirmed.append(now)
        return last
    }

    /// Takes the client's confirmation of the packet `number` and of all before it. Returns false if that is nothing new.
    mutating func confirm(through number: UInt32, at now: Int) -> Bool {
        let rest = Int(last &- number)
        guard rest < unconfirmed.count else { return false }
        let sentAt = unconfirmed[unconfirmed.count - rest - 1]
        roundTrip = min(roundTrip ?? Self.longestRoundTrip, now - sentAt)
        unconfirmed.removeFirst(unconfirmed.count - rest)
        return true
    }
}
