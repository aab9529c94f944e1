public import MediaTypes
public import RTP

/// Estimates what the path to one viewer carries, and plans the sending accordingly.
///
/// It is told of every packet sent and of all feedback, with the time, and answers with a ``SendingPlan``. It is pure:
/// no clock, no lock, no I/O; the work for a packet is constant, and the memory is bounded (see ``SendTimeHistory``).
/// It belongs to one thread.
///
/// What decides (draft-ietf-rmcat-gcc-02 and what libwebrtc has added to it):
/// - a growing or standing queue lowers the rate to what the link delivers, less 15 % (``AIMDRateControl``);
/// - loss lowers it only if sending less avoids it (``LossBasedEstimator``);
/// - probes find out that the path carries more (``ProbeController``);
/// - a source that sends little changes nothing, unless its single pictures show where the link ends
///   (``PacketTrainEstimator``);
/// - of a peer without transport-wide feedback, reception reports tell the same, later and less well
///   (``ReportedRate``).
public struct CongestionController: Sendable {
    /// The bounds of the estimate.
    public struct Limits: Hashable, Sendable {
        /// The first estimate.
        public var initial: BitRate
        /// No path is taken to carry less.
        public var lowest: BitRate
        /// No path is taken to carry more.
        public var highest: BitRate

        public init(
            initial: BitRate = BitRate(bitsPerSecond: 1_000_000), lowest: BitRate = BitRate(bitsPerSecond: 100_000),
            highest: BitRate = BitRate(bitsPerSecond: 100_000_000)
        ) {
            self.initial = initial
            self.lowest = lowest
            self.highest = highest
        }
    }

    /// The least and the highest estimate, in bits per second.
    private let bounds: ClosedRange<Double>
    private let canProbe: Bool
    private var packets = SendTimeHistory()
    private var clock = FeedbackClock()
    private var delay = PathDelay()
    private var trendline = TrendlineEstimator()
    private var delayBased: AIMDRateControl
    private var losses = LossBasedEstimator()
    private var probes: ProbeController
    private var reported = ReportedRate()
    private var hasTransportFeedback = false
    private var rembLimit = Double.infinity
    /// The most that the path has been seen to carry, in bits per second.
    private var carried = 0.0

    private var sentAt: MonotonicTime?
    private var sentByteCount: Int64 = 0
    private var sentRate = RecentRate(span: 500_000_000)
    private var link = LinkRates()
    private var trains = PacketTrainEstimator()
    /// The newest packet that any feedback has reported as received.
    private var newestReported: Int64 = -1
    /// The packets before this one have been judged as lost or received.
    private var recordedEnd: Int64 = 0
    private var feedbackAt: MonotonicTime?
    private var feedbackInterval = 0.1
    private var leastResponse = WindowedMinimum(span: 10_000_000_000)

    /// Creates the controller of a path about which nothing is known.
    ///
    /// - Parameter probes: whether the path may be probed: the peer has promised transport-wide feedback, without which
    ///   a probe has no result.
    public init(limits: Limits = Limits(), probes canProbe: Bool = true, at now: MonotonicTime) {
        self.canProbe = canProbe
        let lowest = Double(max(limits.lowest.bitsPerSecond, 1))
        bounds = lowest...max(Double(limits.highest.bitsPerSecond), lowest)
        delayBased = AIMDRateControl(rate: Double(limits.initial.bitsPerSecond), bounds: bounds)
        probes = ProbeController(at: now)
        sentRate.advance(to: now.nanoseconds)
    }

    /// The estimate stays so far below the rate that trains show. A browser that sleeps until the first packet of a
    /// train notes that one a little late, so the rate seems up to 3 % higher than it is, and it varies by some 2 %.
    private static let belowTrains = 0.93

    /// How far the two clocks may drift apart within the memory of ``PathDelay``, and more, in milliseconds.
    private static let clockError = 50.0
    /// So much more than it has carried a path is expected to carry, as long as it has shown no end. The estimate rises
    /// no faster beyond what was delivered.
    private static let beyondCarried = 1.25

    // MARK: Sending

    /// The transport-wide sequence number for the next packet.
    public var nextSequenceNumber: UInt16 { UInt16(truncatingIfNeeded: packets.next) }

    /// Records that the packet with ``nextSequenceNumber`` was sent: media, retransmission, parity or padding.
    /// `byteCount` is its size on the wire.
    public mutating func packetSent(byteCount: Int, at now: MonotonicTime) {
        let probe = probes.sent(packets.next, byteCount: byteCount, at: now)
        packets.append(byteCount: byteCount, probe: probe, at: now)
        count(byteCount, at: now)
    }

    /// Records a packet that was sent again under its first number: what the peer says about that number may be about
    /// either time, so it counts towards the rate alone.
    public mutating func packetSentAgain(byteCount: Int, at now: MonotonicTime) { count(byteCount, at: now) }

    private mutating func count(_ byteCount: Int, at now: MonotonicTime) {
        sentRate.add(byteCount, at: now.nanoseconds)
        sentByteCount &+= Int64(byteCount)
        sentAt = now
    }

    /// While nothing is sent, queues drain without any feedback that says so.
    private mutating func noticePause(at now: MonotonicTime) {
        guard let sentAt, now - sentAt > .milliseconds(500), delay.queueingDelay / 1000 + 0.5 < (now - sentAt).seconds
        else {
            return
        }
        delayBased.queueDrained()
        delay.forgetRecent()
    }

    /// Returns what to do now. `waiting` is the bytes that wait to be sent; a probe after a pause is made of them
    /// alone.
    public mutating func plan(waiting: Int, at now: MonotonicTime) -> SendingPlan {
        sentRate.advance(to: now.nanoseconds)
        noticePause(at: now)
        let estimate = bounded(delayBased.rate)
        let isLimited = isApplicationLimited(estimate)
        let isDraining = delayBased.isDraining
        if canProbe, hasTransportFeedback || packets.next < 64 {
            probes.offer(
                estimate: estimate, most: bounded(bounds.upperBound),
                spread: delay.spread, isAllowed: { !isDraining && (!isLimited || waiting >= $0) }, at: now)
        }
        let queue = min(max(queueMilliseconds, 0), 60_000)
        // A trial must not lose in bursts what the rate itself would not lose.
        var pacing = estimate * (losses.isTrying ? 1 : 1.5)
        if isDraining { pacing = estimate * max(0.1, 1 - queue / 200) }
        // Reports tell of the queue late, and only now and then.
        if !hasTransportFeedback, reported.isDraining { pacing = estimate * max(0.5, 1 - queue / 1000) }
        if let probe = probes.current { pacing = Double(probe.rate.bitsPerSecond) }
        if isPathSilent(estimate) { pacing = bounds.lowerBound / 2 }
        return SendingPlan(
            estimate: BitRate(bitsPerSecond: Int(estimate)),
            target: BitRate(bitsPerSecond: Int(estimate * (1 - min(queue / 1000, 0.5)))),
            carried: BitRate(bitsPerSecond: Int(min(carried * Self.beyondCarried, estimate))),
            pacingRate: BitRate(bitsPerSecond: Int(pacing)), queueingDelay: .microseconds(Int64(queue * 1000)),
            probe: probes.current, isApplicationLimited: isLimited)
    }

    /// Whether more is on its way than the path can hold without a long queue: feedback is late or lost.
    private func isPathSilent(_ estimate: Double) -> Bool {
        guard hasTransportFeedback else { return false }
        let held = estimate / 8 * (responseTime + feedbackInterval + 0.15)
        return Double(packets.unreportedBytes) > max(held, 16_000)
    }

    private var queueMilliseconds: Double { hasTransportFeedback ? delay.queueingDelay : reported.queue }

    private var responseTime: Double { leastResponse.value.isFinite ? leastResponse.value : 0.2 }

    private func isApplicationLimited(_ estimate: Double) -> Bool {
        sentRate.duration >= 400_000_000 && sentRate.bitsPerSecond < estimate * 0.65
    }

    private func bounded(_ rate: Double) -> Double {
        max(hasTransportFeedback ? rate : min(rate, rembLimit), bounds.lowerBound)
    }

    // MARK: Feedback

    /// Takes what the peer says about the packets of the transport.
    public mutating func receive(_ feedback: TransportFeedback, at now: MonotonicTime) {
        guard packets.next > 0 else { return }
        hasTransportFeedback = true
        if let feedbackAt {
            feedbackInterval += (min((now - feedbackAt).seconds, 0.3) - feedbackInterval) / 8
        }
        feedbackAt = now
        var time = clock.time(feedback.referenceTime)
        var number = packets.expand(feedback.base)
        packets.giveUp(before: number)
        let newestBefore = newestReported
        var newestSentAt: MonotonicTime?
        for arrival in feedback.arrivals {
            guard number < packets.next else { break }
            defer { number += 1 }
            switch arrival {
            case .notReceived:
                _ = packets.report(number, .lost)
            case .received(let delta):
                time.nanoseconds &+= Int64(delta) &* 250_000
                guard let packet = packets.report(number, .received), packet.status != .received else { continue }
                take(packet, number, arrivedAt: time, at: now)
                if number > newestReported {
                    newestReported = number
                    newestSentAt = packet.sentAt
                }
            }
        }
        if let newestSentAt { leastResponse.add((now - newestSentAt).seconds, at: now.nanoseconds) }
        recordLosses(before: newestBefore)
        decide(at: now)
    }

    /// Takes a packet that arrived.
    private mutating func take(
        _ packet: SendTimeHistory.Packet, _ number: Int64, arrivedAt time: ReceiverTime, at now: MonotonicTime
    ) {
        var (value, queue) = delay.add(
            sentAt: packet.sentAt, arrivedAt: time, byteCount: Int(packet.byteCount))
        if queue > (now - packet.sentAt).seconds * 1000 + Self.clockError {
            // It can't have waited for longer than since it was sent: the receiver's clock has been set.
            delay.begin(at: value)
            trendline = TrendlineEstimator()
            queue = 0
        }
        link.add(
            packet, number, queue: queue, threshold: delay.busyThreshold, rate: delayBased.rate, at: time)
        trains.add(packet, number, rate: delayBased.rate, at: time)
        trendline.add(sentAt: packet.sentAt, delay: value, arrival: Double(time.nanoseconds) / 1e6)
        if packet.probe != 0 {
            probes.received(packet.probe, sentAt: packet.sentAt, delay: value)
        } else if !delayBased.isDraining, delay.queueingDelay < 10 + 2 * delay.usualQueueingDelay {
            delay.update(queue: queue, isLittleSent: sentRate.bitsPerSecond < delayBased.rate / 4)
        }
    }

    /// Judges the packets that the feedback before had already passed, so that those that were only overtaken by others
    /// don't count as lost.
    private mutating func recordLosses(before end: Int64) {
        recordedEnd = max(recordedEnd, packets.next - Int64(SendTimeHistory.capacity))
        while recordedEnd < end {
            if let packet = packets.packet(recordedEnd), packet.status == .lost || packet.status == .received {
                losses.record(recordedEnd, isLost: packet.status == .lost)
            }
            recordedEnd += 1
        }
    }

    private mutating func decide(at now: MonotonicTime) {
        sentRate.advance(to: now.nanoseconds)
        if link.acknowledgedBitRate.measuredSeconds >= 0.4 {
            carried = max(carried, link.acknowledgedBitRate.bitsPerSecond)
        }
        let isLimited = isApplicationLimited(bounded(delayBased.rate))
        let wasDraining = delayBased.isDraining
        let present = link.present
        let observation = AIMDRateControl.Observation(
            usage: trendline.usage(at: now), queueingDelay: delay.queueingDelay,
            newestQueueingDelay: delay.newestQueueingDelay,
            newestRate: delay.newestRate, spread: delay.spread, usualQueueingDelay: delay.usualQueueingDelay,
            busyRate: link.busy.bitsPerSecond, busyTime: link.busy.measuredSeconds,
            presentRate: present.rate, presentTime: present.seconds,
            drainedRate: link.drained.bitsPerSecond, drainedTime: link.drained.measuredSeconds,
            acknowledgedBitRate: link.acknowledgedBitRate.bitsPerSecond, mayRise: !isLimited && !losses.isTrying,
            responseTime: responseTime)
        if delayBased.update(observation, at: now) { delay.acceptQueueingDelay() }
        if delayBased.isDraining {
            if !wasDraining {
                link.decreased(at: now)
                losses.abandon(at: packets.next)
            }
            probes.postpone(to: now + .seconds(1))
            return
        }
        if let carried = probes.result(
            reported: newestReported, estimate: delayBased.rate, inherentLoss: losses.inherentLoss, at: now)
        {
            trains.forget()
            delayBased.raise(to: carried)
            self.carried = max(self.carried, carried)
        }
        switch losses.evaluate(
            rate: delayBased.rate, sent: sentRate.bitsPerSecond, isApplicationLimited: isLimited, next: packets.next,
            at: now)
        {
        case .keep: break
        case .lower(let rate):
            delayBased.lower(to: rate)
            probes.postpone(to: now + .seconds(1))
        case .restore(let rate): delayBased.raise(to: rate)
        case .carries(let rate): delayBased.noteCapacity(rate)
        }
        if let rate = trains.rate(at: now) { delayBased.lower(to: rate * Self.belowTrains) }
    }

    /// Takes a reception report about one of the streams. Only a peer without transport-wide feedback is judged by it.
    ///
    /// - Parameters:
    ///   - lastSent: the number of the stream's last packet.
    ///   - roundTripTime: the round trip that the report shows; nil if it shows none.
    public mutating func receive(
        _ report: ReceptionReport, lastSent: SequenceNumber, roundTripTime: Interval?, at now: MonotonicTime
    ) {
        guard !hasTransportFeedback else { return }
        sentRate.advance(to: now.nanoseconds)
        let packets = packets
        let isPlausible = reported.take(
            report, lastSent: lastSent, roundTripTime: roundTripTime, byteCount: sentByteCount,
            age: { outstanding in
                // If other packets went in between, this one was sent later than the stream's own, so the age is never
                // too long.
                packets.packet(packets.next - Int64(outstanding)).map { now - $0.sentAt }
            }, at: now)
        guard isPlausible else { return }
        carried = max(carried, min(reported.acknowledgedBitRate, bounded(delayBased.rate)))
        let rate = bounded(delayBased.rate)
        let new = reported.rate(
            ReportedRate.Sending(
                rate: rate, byteCount: sentByteCount, nextPacket: packets.next,
                isApplicationLimited: isApplicationLimited(rate)), at: now)
        // What the peer's own limit hides of the rate stays as it is.
        if new < rate { delayBased.lower(to: new) } else { delayBased.raise(to: new) }
    }

    /// What is wrong with the peer's reception reports, in words; nil if nothing is known to be.
    public var reportFault: String? { reported.fault }

    /// Takes a rate that the path is thought to carry, because nothing tells that it doesn't.
    public mutating func assume(_ rate: BitRate) { delayBased.raise(to: Double(rate.bitsPerSecond)) }

    /// Takes the upper bound that the peer has set (REMB, draft-alvestrand-rmcat-remb-03). Only a peer without
    /// transport-wide feedback is heeded.
    ///
    /// A peer raises its bound no faster than what it receives. So if little is sent, its bound is low and says
    /// nothing: it counts only once that much is sent.
    public mutating func receive(remb: BitRate, at now: MonotonicTime) {
        guard !hasTransportFeedback else { return }
        sentRate.advance(to: now.nanoseconds)
        let value = Double(max(remb.bitsPerSecond, 0))
        if value > rembLimit || sentRate.bitsPerSecond > value * 0.8 { rembLimit = value }
    }
}
