import MediaTypes

/// How much was sent on a path: in all, and lately.
struct SentTraffic {
    /// When the last packet was sent; nil before the first.
    private(set) var lastSentAt: MonotonicTime?
    /// The bytes of all packets.
    private(set) var byteCount: Int64 = 0
    private var rate = RecentRate(span: .milliseconds(500))

    /// A source is limited by itself if it sends less than this share of the estimate for so long.
    private static let applicationLimit = (share: 0.65, minTime: Interval.milliseconds(400))

    /// Nothing is sent before `now`.
    init(at now: MonotonicTime) { rate.advance(to: now.nanoseconds) }

    /// The rate of the last half second.
    var bitRate: BitRate { rate.bitRate }

    mutating func add(_ byteCount: Int, at now: MonotonicTime) {
        rate.add(byteCount, at: now.nanoseconds)
        self.byteCount &+= Int64(byteCount)
        lastSentAt = now
    }

    /// Updates the rate to the time `now`.
    mutating func advance(to now: MonotonicTime) { rate.advance(to: now.nanoseconds) }

    /// Whether the source sends clearly less than `estimate`.
    func isApplicationLimited(_ estimate: BitRate) -> Bool {
        rate.duration >= Self.applicationLimit.minTime && rate.bitRate < estimate * Self.applicationLimit.share
    }
}
