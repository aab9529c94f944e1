public import MediaTypes

/// Why a picture is coded; the raw values are for the log.
public enum PictureKind: String, Sendable {
    /// A picture that needs no other: every macroblock is coded, without prediction from earlier pictures.
    case keyFrame = "idr"
    /// Something on the screen has changed.
    case change
    /// Nothing has changed: macroblocks that were coded coarsely are coded again, finer.
    case refinement
}

/// Decides when a picture may be coded, and how finely, so that a link of a given bit rate carries it.
///
/// x264 codes each picture at the quantizer it is given. The number of bytes is known only afterwards, and whatever
/// comes out has to be sent, because later pictures are predicted from it. So the controller predicts a picture's size
/// from earlier pictures of its kind, and makes up for wrong predictions by waiting: pictures come less often but stay
/// readable.
///
/// The controller keeps two accounts. The *debt* is what the link has not carried yet; the next picture waits until the
/// debt is (nearly) paid. The *last second* is what was sent within any sliding second; a picture must fit into the
/// room that is left there.
///
/// A *video*, an area that has kept changing for a second or more, is watched rather than read. It becomes as coarse as
/// the link demands, and its pictures come as often as before.
///
/// A motion that *flows* is the exception. In a scroll, a picture that follows 33 ms after another costs a twentieth of
/// one that follows after 100 ms. So the pictures of such a motion don't wait until the debt of its first page is paid.
/// Instead, the motion uses less than the link carries, so that the debt falls meanwhile; the motion's own debt is
/// counted separately for this. If a picture costs the same however soon it follows, as in a film, the motion doesn't
/// flow.
///
/// The value has no clock: `now` is an argument, on the caller's monotonic clock. Two threads must not use it at once.
public struct RateController: Sendable {
    /// What to do with a picture.
    public enum Decision: Equatable, Sendable {
        /// Code it now, at this quantizer (0...51), and report the result to `coded`.
        case encode(quantizer: Int)
        /// Don't code it yet; ask again at this time (later than now), with what has changed by then.
        case wait(until: MonotonicTime)
    }

    /// The bit rate that the link may carry; a new rate applies from the next decision.
    public var bitRate: BitRate {
        didSet { takeUpBitRate() }
    }
    /// The minimum time between two pictures.
    public var period: Interval

    /// The finest quantizer that is worth its bytes: visually lossless.
    let finest: Int
    let constantQuantizer: Int?
    /// The bytes that the link carries in a second.
    var bytesPerSecond: Double
    var debt = LinkDebt()
    /// The part of the debt that a flowing motion added, without the picture it began with.
    var flowDebt = LinkDebt()
    var lastSecond = LastSecond()
    var expectations = SizeExpectations()
    var motion = MotionHistory()
    /// Whether the picture that was asked for last is mostly video.
    private(set) var isVideo = false
    /// The time since which a picture has been held back; nil if none is.
    private var heldSince: MonotonicTime?
    /// Whether the picture that is being coded continues a flowing motion.
    private var isFlowDecided: Bool?
    private var latest = MonotonicTime.zero
    private var record = DecisionRecord()

    /// The longest that a change is held back. Viewers don't put up with a screen that stands still for longer while it
    /// changes, so after this a picture is sent, however coarse it is.
    static let patience = Interval.seconds(2)
    /// The longest that a key frame is held back; a viewer who waits for one sees nothing at all.
    static let keyFramePatience = Interval.milliseconds(300)
    /// The longest that a picture may occupy the link by design, and the largest debt that is recorded.
    static let longestDebt = Interval.seconds(10)

    /// Creates a controller for `bitRate` whose pictures come at least `period` apart.
    ///
    /// - Parameters:
    ///   - finest: The quantizer, 0...51, that refinement ends with and that small changes get at once.
    ///   - constantQuantizer: A quantizer that every picture gets at once, whatever the rate (a key frame gets one
    ///     that is finer by 3); nothing is refined.
    public init(bitRate: BitRate, period: Interval, finest: Int = 14, constantQuantizer: Int? = nil) {
        self.bitRate = bitRate
        self.period = period
        self.finest = min(max(finest, 0), Quantizer.coarsest)
        self.constantQuantizer = constantQuantizer.map { min(max($0, 0), Quantizer.coarsest) }
        bytesPerSecond = Self.bytesPerSecond(bitRate)
    }

    /// Decides what to do with a picture of `kind` that has `macroblocks` active (not skipped) macroblocks. A picture
    /// without active macroblocks costs next to nothing and is always coded.
    ///
    /// - Parameter isVideo: Whether most of them have kept changing for so long that they count as a video, which
    ///   becomes coarser rather than less frequent.
    public mutating func decide(
        _ kind: PictureKind, macroblocks: Int, isVideo: Bool = false, now: MonotonicTime
    ) -> Decision {
        let now = advance(to: now)
        self.isVideo = isVideo
        record.begin(kind, macroblocks)
        if let constantQuantizer { return encode(Self.quantizer(constantQuantizer, of: kind), because: .constant) }
        guard macroblocks > 0 else { return encode(finest, because: .nothing) }
        debt.pay(until: now, bytesPerSecond: bytesPerSecond)

        flowDebt.pay(until: now, bytesPerSecond: bytesPerSecond)
        // Once a key frame is paid for, a new page need not be treated as part of a motion.
        let isFlow =
            motion.isFlow(kind, macroblocks, changedSince: heldSince ?? now, now)
            && (!motion.isAfterKeyFrame || debtFree(now) > now)
        isFlowDecided = isFlow
        let proposal = self.proposal(for: kind, macroblocks, isFlow: isFlow, now)
        record.note(expected: proposal.expected, debt: debt.interval(bytesPerSecond: bytesPerSecond))
        if proposal.start <= now { return encode(proposal.quantizer, because: proposal.reason) }

        var until = proposal.start
        if kind != .refinement {
            let heldUntil = (heldSince ?? now) + (kind == .keyFrame ? Self.keyFramePatience : Self.patience)
            if kind == .keyFrame, now >= heldUntil { return encode(proposal.quantizer, because: .patience) }
            if now >= heldUntil, let coarsest = afterPatience(kind, macroblocks, isFlow: isFlow, now) {
                return coarsest
            }
            if heldSince == nil { heldSince = now }
            if heldUntil > now { until = min(until, heldUntil) }
        }
        until = max(until, now + .milliseconds(1))
        if kind == .change { motion.isHeld(until: until, macroblocks) }
        record.end(.wait(until: until), because: proposal.reason)
        return .wait(until: until)
    }

    /// Records the result of a picture that was coded as `decide` said.
    public mutating func coded(
        _ kind: PictureKind, macroblocks: Int, quantizer: Int, byteCount: Int, isMoved: Bool = false,
        now: MonotonicTime
    ) {
        let now = advance(to: now)
        let bytes = Double(min(max(byteCount, 0), 1 << 40))
        let quantizer = min(max(quantizer, 0), Quantizer.coarsest)
        record.note(actual: byteCount)
        debt.pay(until: now, bytesPerSecond: bytesPerSecond)
        debt.add(bytes, bytesPerSecond: bytesPerSecond)
        lastSecond.add(linkTime(bytes), now)
        guard macroblocks > 0 else { return }
        let wasFlow = isFlowDecided ?? motion.isFlow(kind, macroblocks, changedSince: heldSince ?? now, now)
        isFlowDecided = nil
        let isFirst = motion.pace(kind, macroblocks, now) == .burst
        let isFlow = expectations.learn(
            kind, isFlow: wasFlow, isFirst: isFirst, wasHeld: heldSince != nil, isMoved: isMoved,
            isVideo: isVideo, macroblocks: macroblocks, quantizer: quantizer, bytes: bytes, now: now)
        flowDebt.pay(until: now, bytesPerSecond: bytesPerSecond)
        if isFlow { flowDebt.add(bytes, bytesPerSecond: bytesPerSecond) }
        if kind == .refinement { return }
        heldSince = nil
        // A picture that was sent only because it had waited too long says little about the quantizers of those that
        // follow.
        let measure = record.isEmergency ? min(quantizer, QualityTradeoff.coarsestMeasure) : quantizer
        motion.coded(kind, macroblocks, quantizer: measure, isMoved: isMoved, now)
    }

    /// How many macroblocks one picture of refinement to the finest quantizer may code now; 0 if it may code none yet,
    /// and then the time to ask again.
    public func refinementAllowance(now: MonotonicTime) -> (macroblocks: Int, waitUntil: MonotonicTime) {
        if constantQuantizer != nil { return (0, .distantFuture) }
        let now = max(now, latest)
        let debtFree = debtFree(now)
        let room = min(
            Self.refinementShare.seconds * bytesPerSecond, lastSecond.room(now).seconds * bytesPerSecond)
        let expectation = expectations.refinement
        let macroblocks = expectation.macroblocks(in: room, quantizer: finest)
        if debtFree <= now, macroblocks >= Self.fewestRefined { return (macroblocks, now) }
        let fewest = expectation.most(Self.fewestRefined, finest)
        let windowFree = lastSecond.free(for: linkTime(fewest), now)
        if debtFree <= now, windowFree <= now { return (Self.fewestRefined, now) }
        return (0, max(debtFree, windowFree, now + .milliseconds(1)))
    }

    /// One line of text about the last decision and its result; built on demand.
    public var lastDecisionDescription: String { record.description }

    /// The longest that a picture of refinement occupies the link, because the next change may come at any time.
    private static let refinementShare = Interval.milliseconds(100)
    /// The fewest macroblocks that are worth a picture.
    private static let fewestRefined = 32

    /// All later pictures are predicted from a key frame, so it is coded finer: 3 quantizers make the step size
    /// smaller by the factor 1.4 that encoders commonly use.
    private static func quantizer(_ constant: Int, of kind: PictureKind) -> Int {
        kind == .keyFrame ? max(0, constant - 3) : constant
    }

    private mutating func encode(_ quantizer: Int, because reason: DecisionRecord.Reason) -> Decision {
        record.end(.encode(quantizer: quantizer), because: reason)
        return .encode(quantizer: quantizer)
    }

    /// The decision for a picture whose longest waiting time is over; nil if there is still no room for it.
    private mutating func afterPatience(
        _ kind: PictureKind, _ macroblocks: Int, isFlow: Bool, _ now: MonotonicTime
    ) -> Decision? {
        let expectation = expectations.of(kind, isFlow: isFlow, macroblocks)
        let expected = linkTime(expectation.usual(macroblocks, Quantizer.coarsest))
        guard lastSecond.free(for: expected, now) <= now,
            debt.interval(bytesPerSecond: bytesPerSecond) + expected <= Self.longestDebt
        else { return nil }
        return encode(Quantizer.coarsest, because: .patience)
    }

    /// Treats a clock that runs backwards as one that stands still.
    private mutating func advance(to now: MonotonicTime) -> MonotonicTime {
        latest = max(latest, now)
        return latest
    }

    private mutating func takeUpBitRate() {
        let new = Self.bytesPerSecond(bitRate)
        guard new != bytesPerSecond else { return }
        debt.pay(until: latest, bytesPerSecond: bytesPerSecond)
        flowDebt.pay(until: latest, bytesPerSecond: bytesPerSecond)
        bytesPerSecond = new
        debt.limit(bytesPerSecond: new)
        flowDebt.limit(bytesPerSecond: new)
        // The quantizers that suited the old rate say nothing about the new one, so the next quantizer may jump.
        motion.forgetQuantizers()
    }

    /// Clamps the rate to a range in which the arithmetic works.
    private static func bytesPerSecond(_ bitRate: BitRate) -> Double {
        Double(min(max(bitRate.bitsPerSecond, 1_000), 100_000_000_000)) / 8
    }

    /// How long the link needs to carry `bytes`, at most `longestDebt`.
    func linkTime(_ bytes: Double) -> Interval {
        let seconds = min(bytes / bytesPerSecond, Self.longestDebt.seconds)
        return Interval(nanoseconds: Int64(seconds * 1e9))
    }

    /// When the debt is small enough for another picture.
    func debtFree(_ now: MonotonicTime) -> MonotonicTime {
        let left = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        let slack = QualityTradeoff.basis(period)
        return left <= slack ? now : now + (left - slack)
    }
}
