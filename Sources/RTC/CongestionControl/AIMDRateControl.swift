import MediaTypes

/// The rate that the delay of the path allows: additive or multiplicative increase, and multiplicative decrease when a
/// queue grows (draft-ietf-rmcat-gcc-02 section 5.5).
///
/// A decrease goes to 85 % of what the narrowest link of the path delivered while its queue was never empty. That is
/// the link's own rate, or this flow's share of it, however little the source sends; so a false alarm costs 15 % at
/// most. Then the queue is drained before the rate rises again.
struct AIMDRateControl {
    /// What is known about the path after a feedback.
    struct Observation {
        var usage: BandwidthUsage
        /// The queue that every packet of the last moments met, and each of the last four, in milliseconds.
        var queueingDelay: Double
        var newestQueueingDelay: Double
        /// The rate at which the last four packets arrived.
        var newestRate: Double
        /// The usual difference between packets of one moment, in milliseconds.
        var spread: Double
        /// The usual standing queue, which is due to jitter, in milliseconds.
        var usualQueueingDelay: Double
        /// What the link delivered while its queue was never empty, in bits per second, and for how many seconds that
        /// was measured. Without a measurement, both are 0.
        var busyRate: Double
        var busyTime: Double
        /// What the link delivered, from the last packets alone, however many were lost between them, and after a
        /// decrease too.
        var presentRate: Double
        var presentTime: Double
        /// What the link delivered, from the packets that arrived since the last decrease, but were sent before it.
        /// Those sent after it show the share of the link that is left to so few, if others use it too.
        var drainedRate: Double
        var drainedTime: Double
        /// What was received lately, in bits per second.
        var acknowledgedBitRate: Double
        /// Whether the source uses what it may, and nothing else forbids to send more.
        var mayRise: Bool
        /// The time from sending a packet to the feedback about it, in seconds.
        var responseTime: Double
    }

    private enum State {
        case increase
        /// A queue drains, since then. At the time `checked` it was as long as `queue`. The measurement of the link's
        /// rate may still move the rate within the range.
        case decrease(since: MonotonicTime, checked: MonotonicTime, queue: Double, range: ClosedRange<Double>)
        /// The queue has drained; the rate rises again after that time.
        case hold(until: MonotonicTime)
    }

    private static let beta = 0.85
    /// A queue that is neither sudden nor long lowers the rate no further than to this share of it: jitter may have
    /// made the measurement worse than the link.
    private static let minDecreaseFactor = 0.8
    /// A long queue, in milliseconds.
    private static let long = 80.0
    /// The shortest time over which the link's rate is measured well, in seconds.
    private static let shortest = 0.12
    /// A queue that has drained: it is shorter than this, in milliseconds beyond the usual spread.
    private static let drained = 8.0

    /// Bits per second, always within the bounds.
    private(set) var rate: Double {
        didSet { rate = min(max(rate, bounds.lowerBound), bounds.upperBound) }
    }
    private let bounds: ClosedRange<Double>
    private var state = State.increase
    private var capacity = LinkCapacityEstimator()
    private var updatedAt: MonotonicTime?

    init(rate: Double, bounds: ClosedRange<Double>) {
        self.bounds = bounds
        self.rate = min(max(rate, bounds.lowerBound), bounds.upperBound)
    }

    /// Whether less than the link's rate must be sent so that a queue drains.
    var isDraining: Bool {
        if case .decrease = state { return true }
        return false
    }

    /// Takes what one feedback showed. Returns whether the queue refuses to drain: then the path has become longer.
    mutating func update(_ path: Observation, at now: MonotonicTime) -> Bool {
        let elapsed = updatedAt.map { min((now - $0).seconds, 0.5) } ?? 0
        updatedAt = now
        switch state {
        case .decrease(let since, var checked, var queue, var range):
            let isSlower = path.presentTime >= 0.06 && path.presentRate < rate * 0.97
            let isMuchSlower = isSlower && path.presentRate < rate * 0.75
            let isGrowing = path.newestQueueingDelay > queue + 25 && path.newestRate < rate * 0.75
            let isChecked = (now - checked).seconds > path.responseTime + (isMuchSlower ? 0.1 : 0.5)
            let isStuck = isChecked && path.newestQueueingDelay > max(queue * 0.8, drained(path))
            if isSlower && isStuck || isMuchSlower && isGrowing {
                // It does not drain: the link has become slower still.
                let lowest = isMuchSlower ? 0 : rate * Self.minDecreaseFactor
                cut(path, to: path.presentRate * Self.beta, lowest: lowest, at: now)
                break
            }
            if isChecked {
                checked = now
                queue = path.newestQueueingDelay
            }
            // The longer the queue lasts, the better the link's rate is known.
            if path.drainedTime >= 0.07 + path.spread * 0.004 {
                let lowest = path.newestQueueingDelay > Self.long + 2 * path.spread ? 0 : range.lowerBound
                range = lowest...range.upperBound
                rate = min(max(path.drainedRate * Self.beta, lowest), range.upperBound)
            }
            state = .decrease(since: since, checked: checked, queue: queue, range: range)
            if path.queueingDelay < drained(path) {
                state = .hold(until: now + .milliseconds(Int64(path.responseTime * 500)))
            } else if (now - since).seconds > 2 * path.responseTime + 2 {
                state = .increase
                return true
            }
        case .hold(let until):
            if decreaseIfOverused(path, at: now) { break }
            if now >= until { state = .increase }
        case .increase:
            if decreaseIfOverused(path, at: now) { break }
            if path.mayRise, path.usage == .normal, path.queueingDelay < 20 + path.usualQueueingDelay + packetTime / 2 {
                increase(path, elapsed: elapsed)
            }
        }
        return false
    }

    /// The milliseconds that a full packet takes on a link of this rate. On a slow one it is no queue that this one and
    /// the one before it add to the delay, least of all beside that of the same link when it was faster.
    private var packetTime: Double { min(1200 * 8000 / rate, 40) }

    /// A queue shorter than this has drained, in milliseconds.
    private func drained(_ path: Observation) -> Double { Self.drained + 2 * path.usualQueueingDelay + packetTime }

    private mutating func decreaseIfOverused(_ path: Observation, at now: MonotonicTime) -> Bool {
        let shortest = 0.05 + path.spread * 0.002
        // A sudden fall of the link's rate shows in its first packets, long before the trend does.
        if path.newestQueueingDelay > 30 + 1.5 * path.spread, path.presentTime >= shortest,
            path.presentRate < rate * 0.6,
            path.newestRate < rate * 0.6
        {
            cut(path, to: capacity.add(path.presentRate) * Self.beta, lowest: 0, at: now)
            return true
        }
        let margin = 2 * path.usualQueueingDelay + packetTime * 0.3
        let isGrowing = path.usage == .overusing && path.queueingDelay > 10 + margin
        let isStanding = path.queueingDelay > 35 + margin
        guard isGrowing || isStanding, path.busyTime >= Self.shortest else { return false }
        cut(path, to: capacity.add(path.busyRate) * Self.beta, lowest: rate * Self.minDecreaseFactor, at: now)
        return true
    }

    private mutating func cut(_ path: Observation, to value: Double, lowest: Double, at now: MonotonicTime) {
        state = .decrease(
            since: now, checked: now, queue: max(path.queueingDelay, path.newestQueueingDelay),
            range: lowest...max(rate, lowest))
        rate = min(rate, max(value, lowest))
    }

    private mutating func increase(_ path: Observation, elapsed: Double) {
        var step: Double
        if capacity.isNear(rate) {
            // It grows with the root of the rate only: so flows that share a link meet.
            step = min(60 * rate.squareRoot(), rate * 0.06)
        } else {
            step = rate * 0.15
        }
        step *= elapsed
        // What was never sent is not known to fit.
        let limit = max(rate, path.acknowledgedBitRate * 1.25)
        rate = min(rate + step, limit)
        if capacity.isBelow(rate) { capacity.forget() }
    }

    /// The queue has drained in a pause.
    mutating func queueDrained() { state = .increase }

    /// Takes a rate that a probe has shown the path to carry, or that turned out not to have caused a loss.
    mutating func raise(to value: Double) {
        guard value > rate else { return }
        rate = value
        if capacity.isBelow(rate) { capacity.forget() }
    }

    /// Takes what the path has turned out to carry.
    mutating func noteCapacity(_ value: Double) { _ = capacity.add(value) }

    /// Takes a rate below the present one, because more than that is lost.
    mutating func lower(to value: Double) {
        rate = min(rate, value)
    }
}
