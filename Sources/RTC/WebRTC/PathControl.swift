import CongestionControl
import MediaTypes
import RTP

/// Controls what a session sends along its path: estimates what the path carries, by the peer's feedback, and sets the
/// pace at which packets go out. All senders of a session share it, since their packets share the path.
struct PathControl {
    /// What a datagram has around its RTP packet: the tag of SRTP, and the headers of UDP and IPv4.
    private static let overhead = 16 + 8 + 20
    /// An estimate from here on is no limit for a screen; it is one that the path has not shown its end at.
    private static let plenty = BitRate(bitsPerSecond: 20_000_000)

    /// A link with a longer queue is full.
    private static let fullQueue = Interval.milliseconds(50)

    /// What the path allows at present; nil if the peer sends no transport-wide feedback.
    private(set) var plan: SendingPlan?

    /// Whether transport-wide feedback has come. Until then, and from a peer that never sends it, the reception reports
    /// decide.
    private(set) var hasFeedback = false

    /// Nil if the peer has not promised transport-wide feedback.
    private var controller: CongestionController?
    private var lossRate = LossBasedRate()
    private var lossWindow = LossWindow()
    private var pacer = Pacer()

    init(hasTransportFeedback: Bool, now: MonotonicTime) {
        guard hasTransportFeedback else { return }
        controller = CongestionController(
            limits: CongestionController.Limits(initial: BitRate(bitsPerSecond: 8_000_000)), at: now)
    }

    /// The bit rate that the path can carry, for encoders.
    var targetBitRate: BitRate {
        guard let plan, hasFeedback else { return lossRate.target }
        return plan.target < Self.plenty ? plan.target : LossBasedRate.highest
    }

    // MARK: Sending

    /// Plans anew; `waiting` is the number of bytes that wait to be sent. `canPad` says that a probe may be made of
    /// padding: a session that gets less than the source sends could use more than it sends.
    mutating func makePlan(waiting: Int, canPad: Bool, now: MonotonicTime) {
        guard let plan = controller?.plan(waiting: canPad ? .max : waiting, at: now) else { return }
        self.plan = plan
        pacer.setRate(plan.pacingRate, isProbing: plan.probe != nil, now: now)
    }

    /// Whether a packet of this size may be sent now; if so, it counts as sent for the pace. While nothing is known of
    /// the path, each packet counts as a full one.
    mutating func takeSlot(byteCount: Int, now: MonotonicTime) -> Bool {
        plan == nil ? pacer.take(now: now) : pacer.take(byteCount, now: now)
    }

    /// The time at which to ask for a slot again.
    func nextSlot(now: MonotonicTime) -> MonotonicTime { pacer.nextSlot(now: now) }

    /// How many bytes may be sent again now. While nothing is known of the path, the budget for them is the only limit.
    func roomForRepeats(now: MonotonicTime) -> Int { hasFeedback ? pacer.room(now: now) : .max }

    /// The transport-wide sequence number for the next packet; nil if the peer sends no feedback about it.
    var nextNumber: UInt16? { controller?.nextSequenceNumber }

    /// Notes that a packet with ``nextNumber`` was sent.
    ///
    /// - Parameter isPaced: whether it took a slot. A retransmission doesn't, and other packets wait for it.
    mutating func sent(byteCount: Int, isPaced: Bool, now: MonotonicTime) {
        controller?.packetSent(byteCount: byteCount + Self.overhead, at: now)
        if !isPaced { pacer.charge(byteCount, now: now) }
    }

    /// Whether what is lost may be sent twice: loss with a queue is that of a full link, which more packets would only
    /// make worse.
    var hasRoomForCopies: Bool { plan.map { $0.queueDelay < Self.fullQueue } ?? false }

    // MARK: Feedback

    /// Takes the peer's feedback about what it has received.
    mutating func take(_ feedback: TransportFeedback, now: MonotonicTime) {
        guard controller != nil else { return }
        hasFeedback = true
        let arrivals = feedback.arrivals.lazy.map { arrival -> PacketArrival in
            switch arrival {
            case .notReceived: .notReceived
            case .received(let delta): .received(delta: Int(delta))
            }
        }
        controller?.receive(arrivals, base: feedback.base, referenceTime: feedback.referenceTime, at: now)
    }

    /// Takes a reception report about one of the session's streams.
    ///
    /// - Parameter sentOctets: the number of octets that all streams have sent so far.
    mutating func take(_ report: ReceptionReport, sentOctets: UInt32, now: MonotonicTime) {
        guard let loss = lossWindow.take(report, sentOctets: sentOctets, now: now) else { return }
        lossRate.report(fractionLost: loss.fraction, sent: loss.sent)
    }
}
