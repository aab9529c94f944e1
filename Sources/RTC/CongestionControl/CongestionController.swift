public import MediaTypes
public import RTP

/// Estimates what the path to one viewer carries, and plans the sending accordingly.
///
/// It records each packet sent and all feedback, with the time, and returns a ``SendingPlan``. It is pure: no clock, no
/// lock, no I/O; the work for a packet is constant, and the memory is bounded (see ``SendTimeHistory``). It belongs to
/// one thread.
///
/// The rules (draft-ietf-rmcat-gcc-02 and libwebrtc's additions):
/// - a growing or standing queue lowers the rate to the link's delivery rate, less 15 % (``AIMDRateControl``);
/// - loss lowers the rate only if sending less avoids the loss (``LossBasedEstimator``);
/// - probes find out that the path carries more (``ProbeController``);
/// - a source that sends little changes nothing, unless its single pictures show the link's rate
///   (``PacketTrainEstimator``);
/// - without transport-wide feedback, reception reports show the path's state, later and less well (``ReportedRate``).
public struct CongestionController: Sendable {
    /// The least and the highest estimate.
    private let bounds: ClosedRange<BitRate>
    private let canProbe: Bool
    private var packets = SendTimeHistory()
    private var sent: SentTraffic
    private var arrivals = PathArrivals()
    private var timing = FeedbackTiming()
    private var delayBased: AIMDRateControl
    private var losses = LossBasedEstimator()
    private var probes: ProbeController
    private var reported: ReportedRate
    private var hasTransportFeedback = false
    private var rembLimit = BitRate.unlimited
    /// The most that the path has been seen to carry.
    private var carried = BitRate.zero

    /// The newest packet that any feedback has reported as received.
    private var newestReported: Int64 = -1

    /// Creates the controller of a path about which nothing is known.
    ///
    /// - Parameters:
    ///   - probes: whether the path may be probed: the peer has promised transport-wide feedback, without which a probe
    ///     has no result.
    ///   - roundTripTime: the round trip before anything filled the path, if it is known.
    public init(
        limits: Limits = Limits(), probes canProbe: Bool = true, roundTripTime: Interval? = nil, at now: MonotonicTime
    ) {
        self.canProbe = canProbe
        let lowest = max(limits.lowest, BitRate(bitsPerSecond: 1))
        bounds = lowest...max(limits.highest, lowest)
        delayBased = AIMDRateControl(rate: limits.initial, bounds: bounds)
        probes = ProbeController(at: now)
        sent = SentTraffic(at: now)
        reported = ReportedRate(emptyRoundTrip: roundTripTime)
    }

    /// A path is expected to carry this many times the rate that it has carried, as long as it has shown no limit. The
    /// estimate rises no faster beyond the delivered rate.
    private static let beyondCarried = 1.25
    /// A pause of the source that exceeds the queueing delay by this much has drained the queue.
    private static let pause = Interval.milliseconds(500)
    /// The number of packets during which probes are sent although no feedback has arrived yet.
    private static let packetsBeforeFeedback = 64
    /// No queue is assumed to be longer.
    private static let maxQueue = Interval.seconds(60)
    /// Packets are paced at this many times the estimate, so that a picture leaves quickly.
    private static let pacingFactor = 1.5
    /// While a queue of this length or longer drains, packets are paced at this share of the estimate: with
    /// transport-wide feedback, and with reports.
    private static let drain = (queue: Interval.milliseconds(200), minShare: 0.1)
    private static let reportedDrain = (queue: Interval.seconds(1), minShare: 0.5)
    /// The largest share by which a queue lowers the encoder's target.
    private static let maxTargetCut = 0.5
    /// The time over which the acknowledged rate must be measured to show the path's rate.
    private static let minCarriedTime = Interval.milliseconds(400)
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
        sent.add(byteCount, at: now)
    }

    /// Records a packet that was sent again under its first number: what the peer says about that number may be about
    /// either time, so it counts towards the rate alone.
    public mutating func unnumberedPacketSent(byteCount: Int, at now: MonotonicTime) {
        sent.add(byteCount, at: now)
    }

    /// While nothing is sent, queues drain without any feedback that says so.
    private mutating func noticePause(at now: MonotonicTime) {
        guard let sentAt = sent.lastSentAt, now - sentAt > Self.pause,
            arrivals.delay.queueingDelay + Self.pause < now - sentAt
        else { return }
        delayBased.queueDrained()
        arrivals.forgetRecent()
    }

    /// Returns what to do now. `waiting` is the size of the send queue in bytes; a probe after a pause consists only of
    /// queued packets.
    public mutating func plan(waiting: Int, at now: MonotonicTime) -> SendingPlan {
        sent.advance(to: now)
        noticePause(at: now)
        let estimate = bounded(delayBased.rate)
        let isLimited = sent.isApplicationLimited(estimate)
        let isDraining = delayBased.isDraining
        if canProbe, hasTransportFeedback || packets.next < Self.packetsBeforeFeedback {
            probes.offer(
                estimate: estimate, most: bounded(bounds.upperBound),
                spread: arrivals.delay.spread, isAllowed: { !isDraining && (!isLimited || waiting >= $0) }, at: now)
        }
        let queue = min(max(queueingDelay, .zero), Self.maxQueue)
        // During a trial, bursts must not cause losses that the rate itself would not cause.
        var pacing = losses.isTrying ? estimate : estimate * Self.pacingFactor
        if isDraining { pacing = Self.pacing(estimate, draining: queue, Self.drain) }
        // Reports show the queue late, and only now and then.
        if !hasTransportFeedback, reported.isDraining {
            pacing = Self.pacing(estimate, draining: queue, Self.reportedDrain)
        }
        if let probe = probes.current { pacing = probe.rate }
        if hasTransportFeedback, timing.isSilent(unreportedBytes: packets.unreportedBytes, estimate: estimate) {
            pacing = bounds.lowerBound * 0.5
        }
        return SendingPlan(
            estimate: estimate, target: estimate * (1 - min(queue.seconds, Self.maxTargetCut)),
            carried: min(carried * Self.beyondCarried, estimate), pacingRate: pacing, queueingDelay: queue,
            probe: probes.current, isApplicationLimited: isLimited)
    }

    // Inlined, because a call would get a copy of the controller.
    @inline(__always)
    /// Whether the peer has reported that the packet with this transport-wide number has arrived.
    public func hasArrived(_ number: UInt16) -> Bool {
        packets.packet(packets.expand(number))?.status == .received
    }

    private var queueingDelay: Interval { hasTransportFeedback ? arrivals.delay.queueingDelay : reported.queue }

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

    /// Processes the peer's feedback about the packets of the transport.
    ///
    /// - Parameter arrival: when the feedback arrived here. Since then it has waited to be read, which is not the
    ///   path's delay.
    public mutating func receive(_ feedback: TransportFeedback, arrival: MonotonicTime, at now: MonotonicTime) {
        guard packets.next > 0 else { return }
        hasTransportFeedback = true
        timing.received(at: arrival, readAt: now)
        var time = arrivals.time(feedback.referenceTime)
        var number = packets.expand(feedback.base)
        packets.giveUp(before: number)
        let newestBefore = newestReported
        var newestSentAt: MonotonicTime?
        for packetArrival in feedback.arrivals {
            guard number < packets.next else { break }
            defer { number += 1 }
            switch packetArrival {
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
        if let newestSentAt { timing.reported(packetSentAt: newestSentAt, at: arrival) }
        losses.record(packets, before: newestBefore)
        decide(at: now)
    }

    /// Records that a packet arrived.
    private mutating func take(
        _ packet: SendTimeHistory.Packet, _ number: Int64, arrivedAt time: ReceiverTime, at now: MonotonicTime
    ) {
        let (value, queue) = arrivals.add(packet, number, arrivedAt: time, rate: delayBased.rate, at: now)
        if packet.probe != 0 {
            probes.received(packet.probe, sentAt: packet.sentAt, delay: value)
        } else if !delayBased.isDraining {
            arrivals.learn(queue: queue, isLittleSent: sent.bitRate < delayBased.rate * Self.littleShare)
        }
    }

    private mutating func decide(at now: MonotonicTime) {
        sent.advance(to: now)
        let acknowledged = arrivals.link.acknowledgedBitRate
        if acknowledged.measuredTime >= Self.minCarriedTime { carried = max(carried, acknowledged.bitRate) }
        let isLimited = sent.isApplicationLimited(bounded(delayBased.rate))
        let wasDraining = delayBased.isDraining
        let observation = arrivals.observation(
            mayRise: !isLimited && !losses.isTrying, responseTime: timing.responseTime, at: now)
        if delayBased.update(observation, at: now) { arrivals.acceptQueueingDelay() }
        if delayBased.isDraining {
            if !wasDraining {
                arrivals.decreased(at: now)
                losses.abandon(at: packets.next)
            }
            probes.postpone(to: now + Self.probePause)
            return
        }
        if let carried = probes.result(
            reported: newestReported, estimate: delayBased.rate, inherentLoss: losses.inherentLoss, at: now)
        {
            arrivals.forgetTrains()
            delayBased.raise(to: carried)
            self.carried = max(self.carried, carried)
        }
        switch losses.evaluate(
            rate: delayBased.rate, sent: sent.bitRate, isApplicationLimited: isLimited, next: packets.next,
            at: now)
        {
        case .keep: break
        case .lower(let rate):
            delayBased.lower(to: rate)
            probes.postpone(to: now + Self.probePause)
        case .restore(let rate): delayBased.raise(to: rate)
        case .carries(let rate): delayBased.noteCapacity(rate)
        }
        if let rate = arrivals.trainLimit(at: now) { delayBased.lower(to: rate) }
    }

    /// Processes a reception report about one of the streams; ignored if the peer sends transport-wide feedback.
    ///
    /// - Parameters:
    ///   - lastSent: the number of the stream's last packet.
    ///   - roundTripTime: the round trip that the report shows; nil if it shows none.
    ///   - arrival: when the report arrived here. Since then it has waited to be read, which is not the path's delay.
    public mutating func receive(
        _ report: ReceptionReport, lastSent: SequenceNumber, roundTripTime: Interval?, arrival: MonotonicTime,
        at now: MonotonicTime
    ) {
        guard !hasTransportFeedback else { return }
        sent.advance(to: now)
        let packets = packets
        let isPlausible = reported.take(
            report, lastSent: lastSent, roundTripTime: roundTripTime, byteCount: sent.byteCount,
            age: { outstanding in
                // If other packets went in between, this one was sent later than the stream's own, so the age is never
                // too long.
                packets.packet(packets.next - Int64(outstanding)).map { arrival - $0.sentAt }
            }, at: now)
        guard isPlausible else { return }
        carried = max(carried, min(reported.acknowledgedBitRate, bounded(delayBased.rate)))
        let rate = bounded(delayBased.rate)
        let new = reported.rate(
            ReportedRate.SenderState(
                rate: rate, byteCount: sent.byteCount, nextPacket: packets.next,
                isApplicationLimited: sent.isApplicationLimited(rate)), at: now)
        // The part of the rate above the peer's own limit stays as it is.
        if new < rate { delayBased.lower(to: new) } else { delayBased.raise(to: new) }
    }

    /// The fault of the peer's reception reports, in words; nil if none is known.
    public var reportFault: String? { reported.fault }

    /// Raises the estimate to at least `rate`, which the path is thought to carry because nothing shows the contrary.
    public mutating func assume(_ rate: BitRate) { delayBased.raise(to: rate) }

    /// Applies the upper bound that the peer has set (REMB, draft-alvestrand-rmcat-remb-03), or for 0 none; ignored if
    /// the peer sends transport-wide feedback.
    ///
    /// A peer raises its bound no faster than its received rate. So if little is sent, the bound is low and shows
    /// nothing: a bound below the present one counts only if the source sends about that much.
    public mutating func receive(remb: BitRate, at now: MonotonicTime) {
        guard !hasTransportFeedback else { return }
        sent.advance(to: now)
        let value = remb > .zero ? remb : .unlimited
        if value > rembLimit || sent.bitRate > value * Self.usedRembShare { rembLimit = value }
    }
}
