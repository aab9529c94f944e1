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

    /// The least and the highest estimate.
    private let bounds: ClosedRange<BitRate>
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
    private var rembLimit = BitRate.unlimited
    /// The most that the path has been seen to carry.
    private var carried = BitRate.zero

    private var sentAt: MonotonicTime?
    private var sentByteCount: Int64 = 0
    private var sentRate = RecentRate(span: .milliseconds(500))
    private var link = LinkRates()
    private var trains = PacketTrainEstimator()
    /// The newest packet that any feedback has reported as received.
    private var newestReported: Int64 = -1
    /// The packets before this one have been judged as lost or received.
    private var recordedEnd: Int64 = 0
    private var feedbackAt: MonotonicTime?
    private var feedbackInterval = Interval.milliseconds(100)
    private var minResponseTime = WindowedMinimum(span: .seconds(10))

    /// Creates the controller of a path about which nothing is known.
    ///
    /// - Parameter probes: whether the path may be probed: the peer has promised transport-wide feedback, without which
    ///   a probe has no result.
    public init(limits: Limits = Limits(), probes canProbe: Bool = true, at now: MonotonicTime) {
        self.canProbe = canProbe
        let lowest = max(limits.lowest, BitRate(bitsPerSecond: 1))
        bounds = lowest...max(limits.highest, lowest)
        delayBased = AIMDRateControl(rate: limits.initial, bounds: bounds)
        probes = ProbeController(at: now)
        sentRate.advance(to: now.nanoseconds)
    }

    /// The estimate stays so far below the rate that trains show. A browser that sleeps until the first packet of a
    /// train notes that one a little late, so the rate seems up to 3 % higher than it is, and it varies by some 2 %.
    private static let belowTrains = 0.93

    /// How far the two clocks may drift apart within the memory of ``PathDelay``, and more.
    private static let clockError = Interval.milliseconds(50)
    /// So much more than it has carried a path is expected to carry, as long as it has shown no end. The estimate rises
    /// no faster beyond what was delivered.
    private static let beyondCarried = 1.25
    /// How long it takes before a pause of the source tells that the queue has drained.
    private static let pause = Interval.milliseconds(500)
    /// Until feedback must have come, probes are sent without it: so many packets.
    private static let packetsBeforeFeedback = 64
    /// No queue is taken to be longer.
    private static let maxQueue = Interval.seconds(60)
    /// How many times the estimate packets are paced at, so that a picture leaves quickly.
    private static let pacingFactor = 1.5
    /// While a queue drains, one of this length and longer leaves so much of the rate for pacing: with transport-wide
    /// feedback, and with reports.
    private static let drain = (queue: Interval.milliseconds(200), minShare: 0.1)
    private static let reportedDrain = (queue: Interval.seconds(1), minShare: 0.5)
    /// The most that the queue takes from the encoder's target.
    private static let maxTargetCut = 0.5
    /// A path is silent if more is on its way than the estimate carries in the response time, the usual time between
    /// feedback and this, and more than so many bytes.
    private static let silence = (time: Interval.milliseconds(150), byteCount: 16_000.0)
    private static let unknownResponseTime = Interval.milliseconds(200)
    private static let maxFeedbackInterval = Interval.milliseconds(300)
    /// A source is limited by itself if it sends less than this share of the estimate for so long.
    private static let applicationLimit = (share: 0.65, minTime: Interval.milliseconds(400))
    /// A measurement of what arrives takes so long before it shows what the path carries.
    private static let minCarriedTime = Interval.milliseconds(400)
    /// A queue no longer than this, beyond twice the usual, is jitter.
    private static let shortQueue = Interval.milliseconds(10)
    /// A source that sends less than this share of the estimate sends little.
    private static let littleShare = 0.25
    /// So long after a queue or a loss the path isn't probed.
    private static let probePause = Interval.seconds(1)
    /// REMB counts if the source sends more than this share of it.
    private static let usedRembShare = 0.8

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
        guard let sentAt, now - sentAt > Self.pause, delay.queueingDelay + Self.pause < now - sentAt else { return }
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
        if canProbe, hasTransportFeedback || packets.next < Self.packetsBeforeFeedback {
            probes.offer(
                estimate: estimate, most: bounded(bounds.upperBound),
                spread: delay.spread, isAllowed: { !isDraining && (!isLimited || waiting >= $0) }, at: now)
        }
        let queue = min(max(queueingDelay, .zero), Self.maxQueue)
        // A trial must not lose in bursts what the rate itself would not lose.
        var pacing = losses.isTrying ? estimate : estimate * Self.pacingFactor
        if isDraining { pacing = Self.pacing(estimate, draining: queue, Self.drain) }
        // Reports tell of the queue late, and only now and then.
        if !hasTransportFeedback, reported.isDraining {
            pacing = Self.pacing(estimate, draining: queue, Self.reportedDrain)
        }
        if let probe = probes.current { pacing = probe.rate }
        if isPathSilent(estimate) { pacing = bounds.lowerBound * 0.5 }
        return SendingPlan(
            estimate: estimate, target: estimate * (1 - min(queue.seconds, Self.maxTargetCut)),
            carried: min(carried * Self.beyondCarried, estimate), pacingRate: pacing, queueingDelay: queue,
            probe: probes.current, isApplicationLimited: isLimited)
    }

    /// Whether more is on its way than the path can hold without a long queue: feedback is late or lost.
    private func isPathSilent(_ estimate: BitRate) -> Bool {
        guard hasTransportFeedback else { return false }
        let held = estimate.byteCount(in: responseTime + feedbackInterval + Self.silence.time)
        return Double(packets.unreportedBytes) > max(held, Self.silence.byteCount)
    }

    private var queueingDelay: Interval { hasTransportFeedback ? delay.queueingDelay : reported.queue }

    private var responseTime: Interval { minResponseTime.value ?? Self.unknownResponseTime }

    private func isApplicationLimited(_ estimate: BitRate) -> Bool {
        let limit = Self.applicationLimit
        return sentRate.duration >= limit.minTime && sentRate.bitRate < estimate * limit.share
    }

    /// The pace at which a queue drains: the slower, the longer it is.
    private static func pacing(
        _ estimate: BitRate, draining queue: Interval, _ limit: (queue: Interval, minShare: Double)
    ) -> BitRate {
        estimate * max(limit.minShare, 1 - queue.seconds / limit.queue.seconds)
    }

    private func bounded(_ rate: BitRate) -> BitRate {
        max(hasTransportFeedback ? rate : min(rate, rembLimit), bounds.lowerBound)
    }

    // MARK: Feedback

    /// Takes what the peer says about the packets of the transport.
    public mutating func receive(_ feedback: TransportFeedback, at now: MonotonicTime) {
        guard packets.next > 0 else { return }
        hasTransportFeedback = true
        if let feedbackAt {
            feedbackInterval =
                feedbackInterval + (min(now - feedbackAt, Self.maxFeedbackInterval) - feedbackInterval) / 8
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
        if let newestSentAt { minResponseTime.add(now - newestSentAt, at: now.nanoseconds) }
        recordLosses(before: newestBefore)
        decide(at: now)
    }

    /// Takes a packet that arrived.
    private mutating func take(
        _ packet: SendTimeHistory.Packet, _ number: Int64, arrivedAt time: ReceiverTime, at now: MonotonicTime
    ) {
        var (value, queue) = delay.add(
            sentAt: packet.sentAt, arrivedAt: time, byteCount: Int(packet.byteCount))
        if queue > now - packet.sentAt + Self.clockError {
            // It can't have waited for longer than since it was sent: the receiver's clock has been set.
            delay.begin(at: value)
            trendline = TrendlineEstimator()
            queue = .zero
        }
        link.add(
            packet, number, queue: queue, threshold: delay.busyThreshold, rate: delayBased.rate, at: time)
        trains.add(packet, number, rate: delayBased.rate, at: time)
        trendline.add(sentAt: packet.sentAt, delay: value, arrival: time)
        if packet.probe != 0 {
            probes.received(packet.probe, sentAt: packet.sentAt, delay: value)
        } else if !delayBased.isDraining, delay.queueingDelay < Self.shortQueue + delay.usualQueueingDelay * 2 {
            delay.update(queue: queue, isLittleSent: sentRate.bitRate < delayBased.rate * Self.littleShare)
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
        if link.acknowledgedBitRate.measuredTime >= Self.minCarriedTime {
            carried = max(carried, link.acknowledgedBitRate.bitRate)
        }
        let isLimited = isApplicationLimited(bounded(delayBased.rate))
        let wasDraining = delayBased.isDraining
        let present = link.present
        let observation = AIMDRateControl.Observation(
            usage: trendline.usage(at: now), queueingDelay: delay.queueingDelay,
            newestQueueingDelay: delay.newestQueueingDelay,
            newestRate: delay.newestRate, spread: delay.spread, usualQueueingDelay: delay.usualQueueingDelay,
            busyRate: link.busy.bitRate, busyTime: link.busy.measuredTime,
            presentRate: present.rate, presentTime: present.time,
            drainedRate: link.drained.bitRate, drainedTime: link.drained.measuredTime,
            acknowledgedBitRate: link.acknowledgedBitRate.bitRate, mayRise: !isLimited && !losses.isTrying,
            responseTime: responseTime)
        if delayBased.update(observation, at: now) { delay.acceptQueueingDelay() }
        if delayBased.isDraining {
            if !wasDraining {
                link.decreased(at: now)
                losses.abandon(at: packets.next)
            }
            probes.postpone(to: now + Self.probePause)
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
            rate: delayBased.rate, sent: sentRate.bitRate, isApplicationLimited: isLimited, next: packets.next,
            at: now)
        {
        case .keep: break
        case .lower(let rate):
            delayBased.lower(to: rate)
            probes.postpone(to: now + Self.probePause)
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
    public mutating func assume(_ rate: BitRate) { delayBased.raise(to: rate) }

    /// Takes the upper bound that the peer has set (REMB, draft-alvestrand-rmcat-remb-03). Only a peer without
    /// transport-wide feedback is heeded.
    ///
    /// A peer raises its bound no faster than what it receives. So if little is sent, its bound is low and says
    /// nothing: it counts only once that much is sent.
    public mutating func receive(remb: BitRate, at now: MonotonicTime) {
        guard !hasTransportFeedback else { return }
        sentRate.advance(to: now.nanoseconds)
        let value = max(remb, .zero)
        if value > rembLimit || sentRate.bitRate > value * Self.usedRembShare { rembLimit = value }
    }
}
