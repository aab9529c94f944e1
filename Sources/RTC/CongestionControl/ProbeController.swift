import MediaTypes

/// Decides when to probe and at which rate, and reads the results.
///
/// The first probe starts at once, at three times the first estimate. After a success the next one follows at twice the
/// new estimate; otherwise one starts every two seconds as long as the source could use more.
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
    private static let timeout = Interval.seconds(2)
    /// After a probe that failed on this machine.
    private static let retryInterval = Interval.milliseconds(500)
    /// How many times the estimate the first probe is, and each further one: libwebrtc's probe_controller.
    private static let scales = (first: 3.0, further: 2.0)
    /// An estimate this close to the most that is allowed needs no probe.
    private static let nearMost = 0.95
    /// How long a probe takes, and how many times the path's jitter if that is within these bounds.
    private static let durations = Interval.milliseconds(20)...Interval.milliseconds(80)
    private static let spreads: Int64 = 3
    private static let minPacketCount = 5
    private static let packetSize = 1200
    /// The source has run dry if nothing was sent for the time of three packets at the probe's rate, and this.
    private static let maxPause = Interval.milliseconds(20)
    /// A shorter probe can't be measured.
    private static let minDuration = Interval.milliseconds(2)
    /// The delay grows so much, in each second of sending, on a path that the probe fills, or fills by far.
    private static let growths = (full: 0.1, overfull: 0.4)
    /// The share of the probe's delivered rate that a full path carries permanently.
    private static let saturatedShare = 0.9
    /// The part of the packets that arrive if none is lost for being too many.
    private static let completeShare = 0.9
    /// A link passes a full packet or two at once if it was idle before. Five small packets, for example of padding,
    /// would show only that.
    private static let minByteCount = 3000
    /// A probe is heeded if it shows that the path carries this much more than the estimate.
    private static let minGain = 1.3

    private var phase: Phase
    private var isFirst = true
    /// The probe being sent or awaited. Packets of probes carry this number, all others 0.
    private var identifier: UInt8 = 0
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

    /// Starts a probe if it is time for one. `spread` is the path's jitter.
    ///
    /// - Parameter isAllowed: whether the source could use more and no queue drains.
    mutating func offer(
        estimate: BitRate, most: BitRate, spread: Interval, isAllowed: (_ byteCount: Int) -> Bool, at now: MonotonicTime
    ) {
        switch phase {
        case .awaiting(let deadline):
            if now >= deadline { phase = .idle(until: now + Self.interval) }
        case .sending(let cluster):
            // The source has run dry: the packets sent show nothing about the probe's rate.
            let pause = max(cluster.rate, BitRate(bitsPerSecond: 1)).time(for: 3 * 1500) + Self.maxPause
            if packets > 0, now - sentAt > pause { phase = .idle(until: now + Self.retryInterval) }
        case .idle(let until):
            guard now >= until, estimate < most * Self.nearMost else { return }
            let rate = min(estimate * (isFirst ? Self.scales.first : Self.scales.further), most)
            let duration = min(max(spread * Self.spreads, Self.durations.lowerBound), Self.durations.upperBound)
            let cluster = ProbeCluster(
                rate: rate, minPacketCount: Self.minPacketCount,
                minByteCount: max(Int(rate.byteCount(in: duration)), Self.minByteCount))
            guard isAllowed(max(cluster.minByteCount, Self.minPacketCount * Self.packetSize)) else { return }
            isFirst = false
            identifier = identifier == .max ? 1 : identifier + 1
            packets = 0
            bytes = 0
            measurement = ProbeMeasurement()
            phase = .sending(cluster)
        }
    }

    /// Counts a packet sent, and returns the number of the probe that it belongs to, or 0.
    mutating func sent(_ number: Int64, byteCount: Int, at now: MonotonicTime) -> UInt8 {
        guard case .sending(let cluster) = phase else { return 0 }
        if packets == 0 {
            startedAt = now
            firstByteCount = byteCount
        }
        packets += 1
        bytes += byteCount
        sentAt = now
        lastNumber = number
        if packets >= cluster.minPacketCount, bytes >= cluster.minByteCount {
            phase = .awaiting(now + Self.timeout)
        }
        return identifier
    }

    /// Records that a packet of a probe arrived.
    mutating func received(_ probe: UInt8, sentAt: MonotonicTime, delay: Interval) {
        guard probe == identifier else { return }
        measurement.add(sentAt: sentAt, delay: delay)
    }

    /// The rate that the probe has shown the path to carry, once the feedback has passed its last packet.
    mutating func result(
        reported newest: Int64, estimate: BitRate, inherentLoss: Double, at now: MonotonicTime
    ) -> BitRate? {
        guard case .awaiting = phase, newest >= lastNumber else { return nil }
        phase = .idle(until: now + Self.interval)
        let duration = sentAt - startedAt
        guard duration > Self.minDuration, let growth = measurement.growth(of: packets) else {
            phase = .idle(until: now + Self.retryInterval)
            return nil
        }
        let sent = BitRate(Double(bytes - firstByteCount), in: duration)
        let isSaturated = growth > Self.growths.full
        guard sent > estimate * Self.minGain else {
            // This machine was too busy to send the probe as fast as planned. If the path carried the probe, this
            // proves nothing.
            if !isSaturated { phase = .idle(until: now + Self.retryInterval) }
            return nil
        }
        // Where the queue is short, the packets that exceed the rate are lost instead of delayed.
        let arrived = Double(measurement.receivedCount) / Double(packets) / (1 - inherentLoss)
        let isComplete = arrived > Self.completeShare
        let share = min(isComplete ? 1 : arrived, 1 / (1 + growth))
        let carried = sent * (share * (isSaturated ? Self.saturatedShare : 1))
        // A shared link passes a probe at more than the flow's share; that is no reason to use this rate.
        guard carried > estimate * Self.minGain else { return nil }
        if growth < Self.growths.overfull, isComplete { phase = .idle(until: now) }
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
