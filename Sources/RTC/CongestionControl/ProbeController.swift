import MediaTypes

/// Decides when to probe and at which rate, and reads the results.
///
/// The first probe comes at once, at three times the first estimate. After a success the next one follows at twice the
/// new estimate; otherwise one comes every two seconds as long as the source could use more.
struct ProbeController {
    private enum Phase {
        /// The next probe may start at that time.
        case idle(until: MonotonicTime)
        /// Packets are being sent.
        case sending(ProbeCluster)
        /// All packets were sent; the feedback about them is awaited until that time.
        case awaiting(MonotonicTime)
    }

    private static let interval = Interval.seconds(2)
    private static let patience = Interval.seconds(2)
    /// A link passes a full packet or two at once if it was idle before. Five small packets, as of padding, would show
    /// that alone.
    private static let leastByteCount = 3000
    /// A probe is heeded if it shows that the path carries this much more than the estimate.
    private static let leastGain = 1.3

    private var phase: Phase
    private var isFirst = true
    /// The probe being sent or awaited. Packets of probes carry this number, all others 0.
    private var identifier: UInt16 = 0
    private var packets = 0
    private var bytes = 0
    private var firstByteCount = 0
    private var startedAt = MonotonicTime.zero
    private var sentAt = MonotonicTime.zero
    private var lastNumber: Int64 = 0
    private var measurement = ProbeMeasurement()

    init(at now: MonotonicTime) {
        phase = .idle(until: now)
    }

    /// The probe being sent.
    var current: ProbeCluster? {
        if case .sending(let cluster) = phase { return cluster }
        return nil
    }

    /// Starts a probe if it is time for one. `spread` is the path's jitter in milliseconds.
    ///
    /// - Parameter isAllowed: whether the source could use more and no queue drains.
    mutating func offer(
        estimate: Double, most: Double, spread: Double, isAllowed: (_ byteCount: Int) -> Bool, at now: MonotonicTime
    ) {
        switch phase {
        case .awaiting(let deadline):
            if now >= deadline { phase = .idle(until: now + Self.interval) }
        case .sending(let cluster):
            // The source has run dry: what was sent says nothing about the probe's rate.
            let spacing = 1500 * 8 * 3 / Double(max(cluster.rate.bitsPerSecond, 1)) + 0.02
            if packets > 0, (now - sentAt).seconds > spacing { phase = .idle(until: now + .milliseconds(500)) }
        case .idle(let until):
            guard now >= until, estimate < most * 0.95 else { return }
            let rate = min(estimate * (isFirst ? 3 : 2), most)
            let milliseconds = min(max(20, spread * 3), 80)
            let cluster = ProbeCluster(
                rate: BitRate(bitsPerSecond: Int(rate)), minimumPacketCount: 5,
                minimumByteCount: max(Int(rate * milliseconds / 8000), Self.leastByteCount))
            guard isAllowed(max(cluster.minimumByteCount, 5 * 1200)) else { return }
            isFirst = false
            identifier = identifier == .max ? 1 : identifier + 1
            packets = 0
            bytes = 0
            measurement = ProbeMeasurement()
            phase = .sending(cluster)
        }
    }

    /// Counts a packet sent, and returns the number of the probe that it belongs to, or 0.
    mutating func sent(_ number: Int64, byteCount: Int, at now: MonotonicTime) -> UInt16 {
        guard case .sending(let cluster) = phase else { return 0 }
        if packets == 0 {
            startedAt = now
            firstByteCount = byteCount
        }
        packets += 1
        bytes += byteCount
        sentAt = now
        lastNumber = number
        if packets >= cluster.minimumPacketCount, bytes >= cluster.minimumByteCount {
            phase = .awaiting(now + Self.patience)
        }
        return identifier
    }

    /// Takes a packet of a probe that arrived.
    mutating func received(_ probe: UInt16, sentAt: MonotonicTime, delay: Double) {
        guard probe == identifier else { return }
        measurement.add(sentAt: sentAt, delay: delay)
    }

    /// The rate that the probe has shown the path to carry, once the feedback has passed its last packet.
    mutating func result(
        reported newest: Int64, estimate: Double, inherentLoss: Double, at now: MonotonicTime
    ) -> Double? {
        guard case .awaiting = phase, newest >= lastNumber else { return nil }
        phase = .idle(until: now + Self.interval)
        let duration = (sentAt - startedAt).seconds
        guard duration > 0.002, let growth = measurement.growth(of: packets) else {
            phase = .idle(until: now + .milliseconds(500))
            return nil
        }
        let sent = Double(bytes - firstByteCount) * 8 / duration
        let isSaturated = growth > 0.1
        guard sent > estimate * Self.leastGain else {
            // This machine was too busy to send it as fast as planned. If the path carried it, that says nothing.
            if !isSaturated { phase = .idle(until: now + .milliseconds(500)) }
            return nil
        }
        // Where the queue is short, the packets that exceed the rate are lost instead of delayed.
        let arrived = Double(measurement.receivedCount) / Double(packets) / (1 - inherentLoss)
        let isComplete = arrived > 0.9
        let carried = sent * min(isComplete ? 1 : arrived, 1 / (1 + growth)) * (isSaturated ? 0.9 : 1)
        // A link that is shared lets a probe through at more than the flow's share; that is no reason to take it.
        guard carried > estimate * Self.leastGain else { return nil }
        if growth < 0.4, isComplete { phase = .idle(until: now) }
        return carried
    }

    /// Puts off the next probe: a queue was found.
    mutating func postpone(to time: MonotonicTime) {
        switch phase {
        case .idle(let until): phase = .idle(until: max(until, time))
        case .sending, .awaiting: phase = .idle(until: time)
        }
    }
}
