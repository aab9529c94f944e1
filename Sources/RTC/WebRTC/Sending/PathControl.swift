import CongestionControl
import MediaTypes
import RTP

/// Controls a session's sending along its path: estimates the path's rate from the peer's feedback, and sets the pace
/// of packets. All senders of a session share it, since their packets share the path.
struct PathControl {
    /// The bytes of a datagram around its RTP packet: the SRTP tag, and the headers of UDP and IPv4.
    static let overhead = 16 + 8 + 20
    /// The bytes of a padding packet on the path: ``overhead``, the header of RTP, up to 20 bytes of extensions (the
    /// transport-wide number, and a MID of 12 letters) and one byte of padding. With a browser's MID, which has one
    /// letter, it is 8 bytes less, so that padding rather keeps below its share.
    private static let paddingByteCount = overhead + RTPPacketHeader.byteCount + 20 + 1
    /// An estimate from here on is no limit for a screen. Without transport-wide feedback, a path is assumed to carry
    /// this until it shows a limit.
    private static let plenty = BitRate(bitsPerSecond: 20_000_000)
    /// A link with a longer queue is full.
    private static let fullQueue = Interval.milliseconds(50)
    /// Audio packets have transport-wide numbers for this long after a picture.
    private static let soundMeasuringTime = Interval.milliseconds(250)
    /// Audio packets keep these numbers while the queue is longer than this, so that feedback shows when it has
    /// drained.
    private static let shortQueue = Interval.milliseconds(10)

    /// The rates that the path allows at present.
    private(set) var plan: SendingPlan

    /// Whether the peer has reported on received packets. Before that, the plan is a guess.
    private(set) var hasFeedback = false
    /// Whether packets have a transport-wide number.
    private let isNumbered: Bool
    /// Whether the peer has sent feedback about such numbers.
    private var hasFeedbackOnNumbers = false
    /// The number of reports that arrived before such feedback, which browsers send several times per report.
    private var reportsWithoutFeedback = 0
    private static let reportsBeforeFeedback = 3
    /// When a server that has agreed to send feedback has sent none of any kind for so long that it never will; nil
    /// before the first packet, and for others.
    private var silentAt: MonotonicTime?
    private let isOfServer: Bool
    /// The most that a server has asked for (REMB); nil if nothing.
    private var askedRate: BitRate?
    /// ``askedRate`` of a server that sends transport-wide feedback, as Janus asks for the rate of its room. Without
    /// such feedback, it is the path's limit, for the controller.
    private var askedLimit: BitRate { hasFeedbackOnNumbers ? askedRate ?? .highest : .highest }
    private static let silenceTimeout = Interval.seconds(1)
    private var controller: CongestionController
    private var pacer = Pacer()
    private var growth = GrowthProbes()
    private var padding = OneSecondSum()
    /// The bit rate of the padding that shows losses.
    private var paddingBitsPerSecond = 0
    /// Whether a probe may be completed with packets of no other use.
    private(set) var canPad = false
    /// When the last paced packet was sent (a picture's, or a probe's padding); nil before the first.
    private var pacedPacketSentAt: MonotonicTime?

    /// The first guess for a path about which nothing is known, and for one whose peer is so near that both are in one
    /// local network or one machine: there the first picture, which may be large, needn't be spread.
    private static let firstGuess = BitRate(bitsPerSecond: 8_000_000)
    private static let firstGuessNearby = BitRate(bitsPerSecond: 40_000_000)
    private static let nearby = Interval.milliseconds(5)
    /// Whether the peer is so near.
    private let isNearby: Bool

    /// A path about which nothing is known but perhaps its round trip. Probes soon find out where a low guess is wrong;
    /// without transport-wide feedback there are none, and the first guess is that there is room enough.
    init(
        hasTransportFeedback: Bool, isOfServer: Bool = false, roundTripTime: Interval? = nil, now: MonotonicTime
    ) {
        isNumbered = hasTransportFeedback
        self.isOfServer = isOfServer
        isNearby = roundTripTime.map { $0 <= Self.nearby } ?? false
        let guess = isNearby ? Self.firstGuessNearby : Self.firstGuess
        let initial = hasTransportFeedback ? guess : Self.plenty
        controller = CongestionController(
            limits: CongestionController.Limits(initial: initial, highest: .highest),
            probes: hasTransportFeedback, roundTripTime: roundTripTime, at: now)
        plan = controller.plan(waiting: 0, at: now)
        pacer.setRate(plan.pacingRate, now: now)
    }

    /// The bit rate for encoders: what the path can carry beside the padding, and no more than a server asks for.
    var encoderBitRate: BitRate { min(targetBitRate, askedLimit) }

    /// The bit rate that the path can carry beside the padding.
    ///
    /// The plan's target alone doesn't show a limit: without transport-wide feedback, it is below the estimate whenever
    /// a round trip is longer than the shortest one, even by one unit of the reports' clock.
    var targetBitRate: BitRate {
        guard hasFeedback, plan.estimate < Self.plenty else { return .highest }
        return BitRate(bitsPerSecond: max(0, plan.target.bitsPerSecond - paddingBitsPerSecond))
    }

    /// The bit rate that the path has been seen to carry, for encoders that would use it: 0 if none is known. A local
    /// network is trusted to carry the first guess.
    var carriedBitRate: BitRate {
        guard hasFeedback else { return BitRate(bitsPerSecond: 0) }
        let carried = isNearby ? max(plan.carried, Self.firstGuessNearby) : plan.carried
        return min(plan.target, carried, askedLimit)
    }

    // MARK: Sending

    /// Updates the plan; `waiting` is the size of the send queue in bytes.
    ///
    /// - Parameters:
    ///   - getsLess: whether the session gets less than the source sends, and could use more at any time.
    ///   - usesItsRate: whether the source sends as much as the paths are known to carry.
    mutating func makePlan(waiting: Int, getsLess: Bool = false, usesItsRate: Bool = false, now: MonotonicTime) {
        if let due = silentAt, now >= due {
            silentAt = .distantFuture
            if !hasFeedback { controller.assume(Self.plenty) }
        }
        paddingBitsPerSecond = padding.sum(at: now) * 8
        canPad = getsLess || growth.allow(usesItsRate && plan.estimate < askedLimit, plan, now: now)
        plan = controller.plan(waiting: canPad ? .max : waiting, at: now)
        if canPad, !getsLess, plan.probe != nil { growth.began(plan.estimate, now: now) }
        pacer.setRate(pacingRate(waiting: waiting), isProbing: plan.probe != nil, now: now)
    }

    /// The rate to send `waiting` bytes at. A server passes packets on as they come. If that is to another server over
    /// plain RTP, nothing is repaired, and the system's usual buffer there has room for some 90 packets, which is less
    /// than a key frame. So a server gets them no faster than it must.
    private func pacingRate(waiting: Int) -> BitRate {
        guard isOfServer, plan.probe == nil else { return plan.pacingRate }
        return min(plan.pacingRate, max(Self.plenty, BitRate(bitsPerSecond: waiting * 8000 / Self.serverTime)))
    }

    /// Where more waits than a server gets within so many milliseconds, the rate is as much higher.
    private static let serverTime = 50

    /// Updates the plan while a probe is being completed.
    mutating func continueProbe(now: MonotonicTime) {
        plan = controller.plan(waiting: .max, at: now)
        pacer.setRate(plan.pacingRate, isProbing: plan.probe != nil, now: now)
    }

    /// Whether a packet of this size may be sent now; if so, it counts as sent for the pace.
    mutating func tryConsume(byteCount: Int, now: MonotonicTime) -> Bool { pacer.tryConsume(byteCount, now: now) }

    /// The time at which to call ``tryConsume(byteCount:now:)`` again.
    // Inlined, because a call would get a copy of the path, which has 2 KB.
    @inline(__always)
    func nextSendTime(now: MonotonicTime) -> MonotonicTime { pacer.nextSendTime(now: now) }

    /// How many bytes may be sent again now. While nothing is known of the path, the budget for them is the only limit.
    func retransmissionRoom(now: MonotonicTime) -> Int { hasFeedback ? pacer.room(now: now) : .max }

    /// The transport-wide sequence number for the next packet; nil if the peer sends no feedback about it.
    var nextNumber: UInt16? { isNumbered ? controller.nextSequenceNumber : nil }

    /// Whether the packet with this transport-wide number has arrived, as far as the peer has reported.
    func hasArrived(_ number: UInt16) -> Bool { controller.hasArrived(number) }

    /// The transport-wide sequence number for the next audio packet; nil as well while the screen stands still. A peer
    /// sends feedback some 17 times per second as long as numbered packets arrive, and feedback about only audio shows
    /// nothing of the path's rate.
    ///
    /// A peer that has sent no feedback so far may never send any. Its path is judged by reception reports, for which
    /// the controller must know all packets.
    func nextNumberForSound(now: MonotonicTime) -> UInt16? {
        guard hasFeedbackOnNumbers else { return nextNumber }
        guard let pacedPacketSentAt else { return nil }
        let isMeasuring = now - pacedPacketSentAt <= Self.soundMeasuringTime || plan.queueingDelay > Self.shortQueue
        return isMeasuring ? nextNumber : nil
    }

    /// Notes that a packet with ``nextNumber`` was sent.
    ///
    /// - Parameter isPaced: whether ``tryConsume(byteCount:now:)`` has counted it. It has not counted a retransmission,
    ///   for which other packets wait.
    mutating func sent(byteCount: Int, isPaced: Bool, now: MonotonicTime) {
        controller.packetSent(byteCount: byteCount + Self.overhead, at: now)
        if isOfServer, silentAt == nil { silentAt = now + Self.silenceTimeout }
        if isPaced { pacedPacketSentAt = now } else { pacer.consume(byteCount, now: now) }
    }

    /// Notes that a packet of padding was sent to show a loss, with ``nextNumber``.
    mutating func sentPadding(byteCount: Int, now: MonotonicTime) {
        padding.add(byteCount + Self.overhead, at: now)
        sent(byteCount: byteCount, isPaced: false, now: now)
    }

    /// Notes that a packet was sent without a new number: again byte for byte, with its former number, or as an audio
    /// packet without a number.
    mutating func sentUnnumbered(byteCount: Int, now: MonotonicTime) {
        controller.unnumberedPacketSent(byteCount: byteCount + Self.overhead, at: now)
        pacer.consume(byteCount, now: now)
    }

    /// Whether lost packets may be sent twice: loss with a queue means a full link, which more packets would only make
    /// worse. Only transport-wide feedback shows a queue.
    var hasRoomForCopies: Bool { isNumbered && hasFeedback && plan.queueingDelay < Self.fullQueue }

    /// How many padding packets may be sent in a second: together they take a tenth of the path.
    var paddingRoom: Int { hasRoomForCopies ? plan.estimate.bitsPerSecond / 10 / (8 * Self.paddingByteCount) : 0 }

    // MARK: Feedback

    /// The fault of the peer's reception reports, in words; nil if none is known.
    var reportFault: String? { controller.reportFault }

    /// Processes feedback about received packets. The feedback arrived at `arrival`.
    mutating func take(_ feedback: TransportFeedback, arrival: MonotonicTime, now: MonotonicTime) {
        guard isNumbered else { return }
        hasFeedback = true
        hasFeedbackOnNumbers = true
        controller.receive(feedback, arrival: arrival, at: now)
    }

    /// Processes a reception report about one of the session's streams, whose last packet was `lastSent`. The report
    /// arrived at `arrival`, when `roundTripTime` ended.
    mutating func take(
        _ report: ReceptionReport, lastSent: SequenceNumber, roundTripTime: Interval?, arrival: MonotonicTime,
        now: MonotonicTime
    ) {
        hasFeedback = true
        if isNumbered, !hasFeedbackOnNumbers {
            reportsWithoutFeedback += 1
            // Feedback won't arrive any more, and then the first guess is that there is room enough.
            if reportsWithoutFeedback == Self.reportsBeforeFeedback { controller.assume(Self.plenty) }
        }
        controller.receive(report, lastSent: lastSent, roundTripTime: roundTripTime, arrival: arrival, at: now)
    }

    /// Processes the peer's own estimate of the path.
    mutating func take(_ estimate: ReceiverEstimatedMaximumBitRate, now: MonotonicTime) {
        if isOfServer { askedRate = estimate.bitRate.bitsPerSecond > 0 ? estimate.bitRate : nil }
        controller.receive(remb: estimate.bitRate, at: now)
    }
}

/// Decides when the viewers' paths of a source that uses all of its rate are probed with packets of no other use: at
/// once, and soon again after a probe that has raised the estimate. On a path that carries no more, probes would only
/// be a load, so each probe that raises nothing doubles the time to the next one.
private struct GrowthProbes {
    private static let pause = (least: Interval.seconds(2), most: Interval.seconds(32))
    private static let gain = 1.2

    private var pause = pause.least
    private var dueAt = MonotonicTime.zero
    private var isRunning = false
    /// The estimate when the last probe began.
    private var estimate = 0.0

    /// Whether to probe: now, or still.
    mutating func allow(_ usesItsRate: Bool, _ last: SendingPlan, now: MonotonicTime) -> Bool {
        isRunning = isRunning && last.probe != nil
        return isRunning || usesItsRate && now >= dueAt
    }

    mutating func began(_ estimate: BitRate, now: MonotonicTime) {
        if isRunning { return }
        isRunning = true
        let rate = Double(estimate.bitsPerSecond)
        pause = rate > self.estimate * Self.gain ? Self.pause.least : min(pause * 2, Self.pause.most)
        self.estimate = rate
        dueAt = now + pause
    }
}
