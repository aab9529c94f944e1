public import MediaTypes

/// The packet counters of a connection whose protocol paces and retransmits packets itself, as SRT does.
public struct PathCounters: Hashable, Sendable {
    /// The packets that were sent, including retransmissions.
    public var sent: Int64
    /// The packets that were lost or too late.
    public var lost: Int64
    /// How long packets wait for their acknowledgement.
    public var waiting: Interval
    /// The round-trip time of the connection.
    public var roundTrip: Interval

    /// Counters with these values.
    public init(sent: Int64, lost: Int64, waiting: Interval, roundTrip: Interval) {
        self.sent = sent
        self.lost = lost
        self.waiting = waiting
        self.roundTrip = roundTrip
    }
}

/// Counts what an output is given and what it sends: for its status, and for the hint that its network is weak.
///
/// A pure value; two threads must not use it at once.
public struct OutputMeter: Sendable {
    /// What was sent within a while.
    public struct Rates: Hashable, Sendable {
        /// Frames sent per second.
        public var picturesPerSecond = 0.0
        /// Audio packets sent per second.
        public var soundPerSecond = 0.0
        /// Of pictures and sound together.
        public var bitRate = BitRate(bitsPerSecond: 0)

        /// Nothing was sent.
        public init() {}
    }

    /// What the path has done in the last second.
    public struct Path: Hashable, Sendable {
        /// The part of the packets that it has lost, 0 to 1.
        public var lostShare = 0.0
        /// How much longer packets wait for their acknowledgement than it takes to repair a few losses.
        public var excess = Interval.zero

        /// Nothing is lost.
        public init() {}
    }

    /// The network is weak if at least this share of the pictures isn't sent, or of the packets is lost, for so many
    /// seconds in a row.
    private static let weak = (share: 0.2, seconds: 3)
    /// So many of the shortest round trips are enough to send a packet again, twice if need be.
    private static let repair: Int64 = 3

    /// The number of pictures that were sent.
    public private(set) var sentPictures = 0
    /// The bytes of these pictures.
    public private(set) var sentPictureBytes: Int64 = 0
    /// All audio packets that were sent.
    public private(set) var sentSound = 0
    private var sent = Counts()
    private var second = Counts()
    private var weakSeconds = 0
    /// Nothing, unless ``isWeak(at:counters:)`` is given counters.
    public private(set) var path = Path()
    private var counted: PathCounters?
    private var minRoundTrip: Interval?

    private struct Counts {
        var since = MonotonicTime.zero
        var pictures = 0
        var sound = 0
        var bytes = 0
        var given = 0
    }

    /// Begins to count at `now`.
    public init(at now: MonotonicTime) {
        sent.since = now
        second.since = now
    }

    /// Counts a picture that came, whether it is sent or not.
    public mutating func gave() { second.given += 1 }

    /// Counts a frame that was sent.
    public mutating func sentFrame(isPicture: Bool, byteCount: Int) {
        sent.pictures += isPicture ? 1 : 0
        sent.sound += isPicture ? 0 : 1
        sent.bytes += byteCount
        sentPictures += isPicture ? 1 : 0
        sentPictureBytes += isPicture ? Int64(byteCount) : 0
        sentSound += isPicture ? 0 : 1
        second.pictures += isPicture ? 1 : 0
    }

    /// Returns what was sent since the last call, and starts the next interval.
    public mutating func take(at now: MonotonicTime) -> Rates {
        let seconds = max((now - sent.since).seconds, 0.001)
        defer { sent = Counts(since: now) }
        var rates = Rates()
        rates.picturesPerSecond = Double(sent.pictures) / seconds
        rates.soundPerSecond = Double(sent.sound) / seconds
        rates.bitRate = BitRate(bitsPerSecond: Int(Double(sent.bytes) * 8 / seconds))
        return rates
    }

    /// Looks at the second that has passed; returns whether the network has just turned out to be weak. Called at least
    /// once per second while the output runs. `counters`, which is called once per second, returns what the protocol
    /// has counted, if it does.
    public mutating func isWeak(at now: MonotonicTime, counters: () -> PathCounters? = { nil }) -> Bool {
        guard now - second.since >= .seconds(1) else { return false }
        measure(counters())
        let isShort =
            Double(second.pictures) <= Double(second.given) * (1 - Self.weak.share) && second.given > 0
            || path.lostShare >= Self.weak.share
        weakSeconds = isShort ? weakSeconds + 1 : 0
        second = Counts(since: now)
        return weakSeconds == Self.weak.seconds
    }

    private mutating func measure(_ counters: PathCounters?) {
        defer { counted = counters }
        guard let counters, let counted, counters.sent > counted.sent else { return path = Path() }
        let shortest = min(minRoundTrip ?? counters.roundTrip, counters.roundTrip)
        minRoundTrip = shortest
        // A packet that is lost again may be counted again.
        path.lostShare = min(1, Double(max(0, counters.lost - counted.lost)) / Double(counters.sent - counted.sent))
        path.excess = max(.zero, counters.waiting - shortest * Self.repair)
    }
}
