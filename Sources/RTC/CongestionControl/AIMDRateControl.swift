import MediaTypes

/// The rate that the delay of the path allows: additive or multiplicative increase, and multiplicative decrease when a
/// queue grows (draft-ietf-rmcat-gcc-02 section 5.5).
///
/// A decrease goes to 85 % of the rate that the path's narrowest link delivered while its queue was never empty. This
/// is the link's own rate, or this flow's share of the link, however little the source sends; so a false alarm costs
/// 15 % at most. Then the queue is drained before the rate rises again.
struct AIMDRateControl {
    /// What is known about the path after a feedback.
    struct Observation {
        var usage: BandwidthUsage
        /// The queue that every packet of the last moments met, and each of the last four.
        var queueingDelay: Interval
        var newestQueueingDelay: Interval
        /// The rate at which the last four packets arrived.
        var newestRate: BitRate
        /// The usual difference between packets of one moment.
        var spread: Interval
        /// The usual standing queue, which is due to jitter.
        var usualQueueingDelay: Interval
        /// The rate of the link while its queue was never empty, and how long it was measured. Without a measurement,
        /// both are 0.
        var busyRate: BitRate
        var busyTime: Interval
        /// The link's rate from only the last packets, however many were lost between them, and after a decrease too.
        var presentRate: BitRate
        var presentTime: Interval
        /// The link's rate from the packets that arrived since the last decrease, but were sent before it. Packets sent
        /// after it show the share of the link that is left to so few, if other flows use the link too.
        var drainedRate: BitRate
        var drainedTime: Interval
        /// The rate received lately.
        var acknowledgedBitRate: BitRate
        /// Whether the source uses its rate, and nothing else forbids a higher one.
        var mayRise: Bool
        /// The time from sending a packet to the arrival of the feedback about it.
        var responseTime: Interval
    }

    /// The states of gcc-02 section 5.5.
    ///
    /// | from | to | when |
    /// | --- | --- | --- |
    /// | increase, hold | decrease | a queue grows or stands, or the link's rate falls (`decreaseIfOverused`) |
    /// | decrease | decrease | the queue doesn't drain, because the link has become slower still |
    /// | decrease | hold | the queue has drained |
    /// | decrease | increase | the queue doesn't drain although the link isn't slower: the path has become longer |
    /// | hold | increase | after half a response time |
    private enum State {
        case increase
        case decrease(Draining)
        /// The queue has drained; the rate rises again after that time.
        case hold(until: MonotonicTime)
    }

    /// A queue that drains.
    private struct Draining {
        let since: MonotonicTime
        /// When the queue was last checked, and how long it was then.
        var checked: MonotonicTime
        var queue: Interval
        /// Within this, the measurement of the link's rate may still move the rate.
        var range: ClosedRange<BitRate>
    }

    // The constants without a source are this project's own; the simulations of CongestionControlTests judge them.

    /// The share of the link's rate that a decrease leaves: β of gcc-02 section 5.5.
    private static let beta = 0.85
    /// A queue that is neither sudden nor long lowers the rate no further than to this share of it: jitter may have
    /// made the measurement worse than the link.
    private static let minDecreaseFactor = 0.8
    /// The shortest time over which the link's rate is measured well.
    private static let minBusyTime = Interval.milliseconds(120)
    /// With a queue longer than this, beyond twice the usual spread, the rate may fall as far as the link's.
    private static let longQueue = Interval.milliseconds(80)
    /// A queue that has drained: it is shorter than this, beyond the usual.
    private static let drainedQueue = Interval.milliseconds(8)
    /// A size of packet that fills a slow link's queue on its own, and the longest time that is granted to it.
    private static let fullPacket = (byteCount: 1200, maxTime: Interval.milliseconds(40))

    /// While a queue drains: the link has become slower if it delivers less than these shares of the rate, measured
    /// over that time.
    private static let slower = (share: 0.97, muchShare: 0.75, minTime: Interval.milliseconds(60))
    /// A queue that has grown by more than this since the last check doesn't drain.
    private static let queueGrowth = Interval.milliseconds(25)
    /// A queue doesn't drain either if more than this is left of it, so long after the response time.
    private static let stuckShare = 0.8
    private static let checkTime = (usual: Interval.milliseconds(500), muchSlower: Interval.milliseconds(100))
    /// The link's rate is known again after so long, and four times the spread.
    private static let minDrainedTime = Interval.milliseconds(70)
    /// A queue that hasn't drained after so long, and two response times, is not ours.
    private static let maxDrainTime = Interval.seconds(2)

    /// A sudden fall: a queue longer than this, beyond 1.5 times the spread, of packets that arrived at less than this
    /// share of the rate, measured over that time, and twice the spread.
    private static let fall = (
        queue: Interval.milliseconds(30), spreads: 1.5, share: 0.6, minTime: Interval.milliseconds(50)
    )
    /// A queue longer than the first causes a decrease if it grows, one longer than the second in any case; and the
    /// share of a full packet's time that is added to both.
    private static let growingQueue = Interval.milliseconds(10)
    private static let standingQueue = Interval.milliseconds(35)
    private static let packetShare = 0.3
    /// With a queue longer than this, the rate doesn't rise.
    private static let risingQueue = Interval.milliseconds(20)

    /// The increase in a second, as a share of the rate, far from the link's end and near to it.
    private static let increase = (far: 0.15, near: 0.06)
    /// The increase in a second near to the link's end, in bits per second, for each root of the rate.
    private static let increasePerRoot = 60.0
    /// The rate rises to at most this many times the acknowledged rate: more was never sent, and isn't known to fit.
    /// 1.5 in gcc-02.
    private static let maxOfAcknowledged = 1.25
    /// No feedback counts for a longer time than this.
    private static let maxElapsed = Interval.milliseconds(500)

    /// Always within the bounds.
    private(set) var rate: BitRate {
        didSet { rate = rate.clamped(to: bounds) }
    }
    private let bounds: ClosedRange<BitRate>
    private var state = State.increase
    private var capacity = LinkCapacityEstimator()
    private var updatedAt: MonotonicTime?

    init(rate: BitRate, bounds: ClosedRange<BitRate>) {
        self.bounds = bounds
        self.rate = rate.clamped(to: bounds)
    }

    /// Whether less than the link's rate must be sent so that a queue drains.
    var isDraining: Bool {
        if case .decrease = state { return true }
        return false
    }

    /// Updates the rate from one feedback. Returns whether the queue refuses to drain, because the path has become
    /// longer.
    mutating func update(_ path: Observation, at now: MonotonicTime) -> Bool {
        let elapsed = updatedAt.map { min(now - $0, Self.maxElapsed) } ?? .zero
        updatedAt = now
        switch state {
        case .decrease(let draining): return drain(draining, path, at: now)
        case .hold(let until):
            if !decreaseIfOverused(path, at: now), now >= until { state = .increase }
        case .increase:
            if !decreaseIfOverused(path, at: now), allowsIncrease(path) { increase(path, elapsed: elapsed) }
        }
        return false
    }

    /// Waits until the queue has drained. Returns whether it refuses to, although the link isn't slower.
    private mutating func drain(_ last: Draining, _ path: Observation, at now: MonotonicTime) -> Bool {
        var draining = last
        let isSlower = path.presentTime >= Self.slower.minTime && path.presentRate < rate * Self.slower.share
        let isMuchSlower = isSlower && path.presentRate < rate * Self.slower.muchShare
        let isGrowing =
            path.newestQueueingDelay > last.queue + Self.queueGrowth && path.newestRate < rate * Self.slower.muchShare
        let checkTime = isMuchSlower ? Self.checkTime.muchSlower : Self.checkTime.usual
        let isChecked = now - last.checked > path.responseTime + checkTime
        let isStuck =
            isChecked && path.newestQueueingDelay > max(last.queue.scaled(by: Self.stuckShare), drainedQueue(path))
        if isSlower && isStuck || isMuchSlower && isGrowing {
            let lowest = isMuchSlower ? .zero : rate * Self.minDecreaseFactor
            cut(path, to: path.presentRate * Self.beta, lowest: lowest, at: now)
            return false
        }
        if isChecked { (draining.checked, draining.queue) = (now, path.newestQueueingDelay) }
        // The longer the queue lasts, the better the link's rate is known.
        if path.drainedTime >= Self.minDrainedTime + path.spread * 4 {
            let isLong = path.newestQueueingDelay > Self.longQueue + path.spread * 2
            draining.range = (isLong ? .zero : last.range.lowerBound)...last.range.upperBound
            rate = (path.drainedRate * Self.beta).clamped(to: draining.range)
        }
        let isStanding = path.queueingDelay >= drainedQueue(path)
        let isLonger = isStanding && now - last.since > path.responseTime * 2 + Self.maxDrainTime
        if isLonger {
            state = .increase
        } else {
            state = isStanding ? .decrease(draining) : .hold(until: now + path.responseTime / 2)
        }
        return isLonger
    }

    private func allowsIncrease(_ path: Observation) -> Bool {
        let maxQueue = Self.risingQueue + path.usualQueueingDelay + packetTime / 2
        return path.mayRise && path.usage == .normal && path.queueingDelay < maxQueue
    }

    /// The time that a full packet takes on a link of this rate. On a slow link, the delay that a packet and the one
    /// before it add is no queue, least of all compared with the link's delay when it was faster.
    private var packetTime: Interval {
        min(rate.time(for: Self.fullPacket.byteCount), Self.fullPacket.maxTime)
    }

    /// A queue shorter than this has drained.
    private func drainedQueue(_ path: Observation) -> Interval {
        Self.drainedQueue + path.usualQueueingDelay * 2 + packetTime
    }

    private mutating func decreaseIfOverused(_ path: Observation, at now: MonotonicTime) -> Bool {
        // A sudden fall of the link's rate shows in its first packets, long before the trend does.
        let fall = Self.fall
        if path.newestQueueingDelay > fall.queue + path.spread.scaled(by: fall.spreads),
            path.presentTime >= fall.minTime + path.spread * 2, path.presentRate < rate * fall.share,
            path.newestRate < rate * fall.share
        {
            cut(path, to: capacity.add(path.presentRate) * Self.beta, lowest: .zero, at: now)
            return true
        }
        let margin = path.usualQueueingDelay * 2 + packetTime.scaled(by: Self.packetShare)
        let isGrowing = path.usage == .overusing && path.queueingDelay > Self.growingQueue + margin
        let isStanding = path.queueingDelay > Self.standingQueue + margin
        guard isGrowing || isStanding, path.busyTime >= Self.minBusyTime else { return false }
        cut(path, to: capacity.add(path.busyRate) * Self.beta, lowest: rate * Self.minDecreaseFactor, at: now)
        return true
    }

    private mutating func cut(_ path: Observation, to value: BitRate, lowest: BitRate, at now: MonotonicTime) {
        state = .decrease(
            Draining(
                since: now, checked: now, queue: max(path.queueingDelay, path.newestQueueingDelay),
                range: lowest...max(rate, lowest)))
        rate = min(rate, max(value, lowest))
    }

    private mutating func increase(_ path: Observation, elapsed: Interval) {
        var step: BitRate
        if capacity.isNear(rate) {
            // The step grows only with the root of the rate, so that flows that share a link converge.
            let root = Double(rate.bitsPerSecond).squareRoot()
            step = min(BitRate(rounding: Self.increasePerRoot * root), rate * Self.increase.near)
        } else {
            step = rate * Self.increase.far
        }
        step = step * elapsed.seconds
        // A rate that was never sent isn't known to fit.
        let limit = max(rate, path.acknowledgedBitRate * Self.maxOfAcknowledged)
        rate = min(rate + step, limit)
        if capacity.isBelow(rate) { capacity.forget() }
    }

    /// The queue has drained in a pause.
    mutating func queueDrained() { state = .increase }

    /// Raises the rate to one that a probe has shown the path to carry, or that turned out not to have caused a loss.
    mutating func raise(to value: BitRate) {
        guard value > rate else { return }
        rate = value
        if capacity.isBelow(rate) { capacity.forget() }
    }

    /// Records a rate that the path has turned out to carry.
    mutating func noteCapacity(_ value: BitRate) { _ = capacity.add(value) }

    /// Lowers the rate to at most `value`, because the path doesn't seem to carry more than that.
    mutating func lower(to value: BitRate) {
        rate = min(rate, value)
    }
}
