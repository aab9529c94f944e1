public import MediaTypes

/// Counts what an output is given and what it sends: for its status, and for the hint that its network is weak.
///
/// A pure value; two threads must not use it at once.
public struct OutputMeter: Sendable {
    /// What was sent within a while.
    public struct Rates: Hashable, Sendable {
        public var picturesPerSecond = 0.0
        public var soundPerSecond = 0.0
        /// Of pictures and sound together.
        public var bitRate = BitRate(bitsPerSecond: 0)

        /// Nothing was sent.
        public init() {}
    }

    /// The network is weak if at least this share of the pictures isn't sent, for so many seconds in a row.
    private static let weak = (share: 0.2, seconds: 3)

    /// All pictures that were sent, and their bytes.
    public private(set) var sentPictures = 0
    public private(set) var sentPictureBytes: Int64 = 0
    /// All packets of sound that were sent.
    public private(set) var sentSound = 0
    private var sent = Counts()
    private var second = Counts()
    private var weakSeconds = 0

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

    /// Returns what was sent since the last call, and begins anew.
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
    /// once a second while the output runs.
    public mutating func isWeak(at now: MonotonicTime) -> Bool {
        guard now - second.since >= .seconds(1) else { return false }
        let isShort = Double(second.pictures) <= Double(second.given) * (1 - Self.weak.share) && second.given > 0
        weakSeconds = isShort ? weakSeconds + 1 : 0
        second = Counts(since: now)
        return weakSeconds == Self.weak.seconds
    }
}
