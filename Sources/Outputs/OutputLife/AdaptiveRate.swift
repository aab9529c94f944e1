public import MediaTypes

/// The bit rate for an encoder whose output goes to one place alone: less while what it makes has to wait, and more
/// again while nothing does.
///
/// What the system has taken but not sent is unknown, so the queue tells of a slow path some seconds late. Over SRT
/// nothing waits, and what the path doesn't carry is lost. A pure value; two threads must not use it at once.
public struct AdaptiveRate: Sendable {
    /// From this age of the oldest frame on, too much is made; below the other, everything goes through.
    private static let late = Interval.milliseconds(500)
    private static let prompt = Interval.milliseconds(150)
    /// Where the protocol repairs losses, this share of lost packets is too much; below the other, everything goes
    /// through.
    private static let lossy = (late: 0.15, prompt: 0.05)
    /// A decrease goes so far below what was sent, and an increase so far up: less far near the rate that was too much
    /// last.
    private static let decrease = 0.85
    private static let increase = (usual: 1.2, careful: 1.05)
    private static let near = 0.8...1.25
    /// The time between two decreases, in which the first has an effect.
    private static let effect = Interval.seconds(1)
    /// The time before the first increase after a decrease, and before each further one.
    private static let raiseDelay = (first: Interval.seconds(4), further: Interval.milliseconds(900))

    private let bounds: ClosedRange<Double>
    private var current: Double
    private var decreasedAt: MonotonicTime?
    /// What went through at the last decrease.
    private var carried: Double?
    private var promptSince: MonotonicTime?

    /// Begins at the highest rate.
    public init(lowest: BitRate, highest: BitRate) {
        let top = Double(max(highest.bitsPerSecond, 1))
        bounds = min(Double(max(lowest.bitsPerSecond, 1)), top)...top
        current = top
    }

    /// The rate to encode at.
    public var rate: BitRate { BitRate(bitsPerSecond: Int(current)) }

    /// Takes how long the oldest frame has waited and what was sent since the last call, about once per second, and
    /// which part of the packets was lost on the way.
    ///
    /// - Returns: whether the rate has changed.
    public mutating func update(
        queueAge: Interval, sent: BitRate, lostShare: Double = 0, at now: MonotonicTime
    ) -> Bool {
        let before = current
        if queueAge > Self.late || lostShare > Self.lossy.late {
            promptSince = nil
            if now - (decreasedAt ?? .zero) >= Self.effect || decreasedAt == nil {
                decreasedAt = now
                // Much less than the rate is sent where little is made, which says nothing.
                let carried = max(Double(sent.bitsPerSecond) * (1 - lostShare), current / 2)
                self.carried = carried
                current = max(bounds.lowerBound, min(current, carried) * Self.decrease)
            }
        } else if queueAge > Self.prompt || lostShare > Self.lossy.prompt {
            promptSince = nil
        } else {
            let since = promptSince ?? now
            promptSince = since
            let isFirst = decreasedAt.map { $0 > since - Self.raiseDelay.first } ?? false
            if now - since >= (isFirst ? Self.raiseDelay.first : Self.raiseDelay.further), current < bounds.upperBound {
                promptSince = now
                decreasedAt = nil
                let isNear = carried.map { Self.near.contains(current / $0) } ?? false
                let factor = isNear ? Self.increase.careful : Self.increase.usual
                current = min(bounds.upperBound, current * factor)
                if current == bounds.upperBound { carried = nil }
            }
        }
        return current != before
    }
}
