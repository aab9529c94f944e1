public import MediaTypes

/// What a picture is coded for.
public enum PictureKind: Sendable {
    /// A picture that needs no other one: everything is coded, without prediction from earlier pictures.
    case idr
    /// Something on the screen has changed.
    case change
    /// Nothing has changed: what was coded coarsely is coded again, finer.
    case refinement
}

/// Decides when a picture may be coded, and how finely, so that a link of a given bit rate carries it.
///
/// x264 codes each picture at the quantizer that is asked for; how many bytes come out is known only afterwards, and
/// whatever came out has to be sent, as later pictures are predicted from it. So a picture's bytes are foretold from those
/// of its like, and what was foretold badly is paid by waiting: the pictures come more seldom, but stay readable.
///
/// Two accounts are kept. The *debt* is what the line has not carried yet; the next picture waits until it is (nearly)
/// paid. The *last second* is what was sent in any sliding second: a picture must fit into what that leaves.
///
/// A motion that *flows* is the exception. A picture that follows 33 ms after another one of a scroll costs a twentieth of
/// one that comes after 100 ms. So it doesn't wait for the debt of the page that it began with, but spends less than the
/// line carries meanwhile, and the debt falls while it flows; it has a debt of its own for that. Where a close picture
/// costs as much as any, as in a film, nothing flows.
///
/// A value without a clock: `now` is an argument, on the caller's monotonic clock. Not to be used by two threads at once.
public struct RateController: Sendable {
    /// What to do with a picture.
    public enum Decision: Equatable, Sendable {
        /// Code it now, at this quantizer (0...51), and tell `coded` what came out.
        case encode(quantizer: Int)
        /// Not yet: ask again then (later than now), with what has changed until then.
        case wait(until: MonotonicTime)
    }

    /// What the link may carry; a new rate counts from the next decision.
    public var bitRate: BitRate {
        didSet { takeUpBitRate() }
    }
    /// The least time between two pictures.
    public var period: Interval

    /// The finest quantizer that is worth its bytes: visually lossless.
    let finest: Int
    let constantQuantizer: Int?
    /// What the line carries in a second.
    var bytesPerSecond: Double
    var debt = LineDebt()
    /// The part of it that a motion made by itself, without what it began with.
    var flowDebt = LineDebt()
    var lastSecond = LastSecond()
    var expectations = SizeExpectations()
    var motion = MotionHistory()
    /// Since when a picture has been held back.
    private var heldSince: MonotonicTime?
    /// Whether the picture that is being coded goes on with a motion.
    private var isFlowDecided: Bool?
    private var latest = MonotonicTime.zero
    private var record = DecisionRecord()

    /// Nobody watches a screen that stands still for longer while it changes; a picture comes, whatever it looks like.
    static let patience = Interval.seconds(2)
    /// Who waits for an IDR picture sees nothing at all.
    static let idrPatience = Interval.milliseconds(300)
    /// Longer than this no picture occupies the line on purpose, nor is a debt kept.
    static let longestDebt = Interval.seconds(10)

    /// A controller for `bitRate` whose pictures come at least `period` apart.
    ///
    /// - Parameters:
    ///   - finest: the quantizer that refinement ends with and that small changes get at once; 0...51.
    ///   - constantQuantizer: every picture gets this one at once (an IDR picture one that is finer by 3), whatever the rate;
    ///     nothing is refined.
    public init(bitRate: BitRate, period: Interval, finest: Int = 14, constantQuantizer: Int? = nil) {
        self.bitRate = bitRate
        self.period = period
        self.finest = min(max(finest, 0), Quantizer.coarsest)
        self.constantQuantizer = constantQuantizer.map { min(max($0, 0), Quantizer.coarsest) }
        bytesPerSecond = Self.bytesPerSecond(bitRate)
    }

    /// What to do with a picture of `kind` whose active (not skipped) macroblocks are `macroblocks`; a picture without any
    /// costs next to nothing and is always to be coded.
    public mutating func decide(_ kind: PictureKind, macroblocks: Int, now: MonotonicTime) -> Decision {
        let now = advance(to: now)
        record.begin(kind, macroblocks)
        if let constantQuantizer { return encode(Self.quantizer(constantQuantizer, of: kind), because: .constant) }
        guard macroblocks > 0 else { return encode(finest, because: .nothing) }
        debt.pay(until: now, bytesPerSecond: bytesPerSecond)

        flowDebt.pay(until: now, bytesPerSecond: bytesPerSecond)
        // After an IDR picture that is paid for another page need not be taken for a motion.
        let isFlow =
            motion.isFlow(kind, macroblocks, changedSince: heldSince ?? now, now)
            && (!motion.isAfterIDR || debtFree(now) > now)
        isFlowDecided = isFlow
        let wish = wish(for: kind, macroblocks, isFlow: isFlow, now)
        record.note(expected: wish.expected, debt: debt.interval(bytesPerSecond: bytesPerSecond))
        if wish.start <= now { return encode(wish.quantizer, because: wish.reason) }

        var until = wish.start
        if kind != .refinement {
            let heldUntil = (heldSince ?? now) + (kind == .idr ? Self.idrPatience : Self.patience)
            if kind == .idr, now >= heldUntil { return encode(wish.quantizer, because: .patience) }
            if now >= heldUntil, let coarsest = afterPatience(kind, macroblocks, isFlow: isFlow, now) {
                return coarsest
            }
            if heldSince == nil { heldSince = now }
            if heldUntil > now { until = min(until, heldUntil) }
        }
        until = max(until, now + .milliseconds(1))
        if kind == .change { motion.isHeld(until: until, macroblocks) }
        record.end(.wait(until: until), because: wish.reason)
        return .wait(until: until)
    }

    /// Tells what a picture became that was coded as `decide` said.
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
        lastSecond.add(lineTime(bytes), now)
        guard macroblocks > 0 else { return }
        let wasFlow = isFlowDecided ?? motion.isFlow(kind, macroblocks, changedSince: heldSince ?? now, now)
        isFlowDecided = nil
        let isFirst = motion.pace(kind, macroblocks, now) == .burst
        let isFlow = expectations.learn(
            kind, isFlow: wasFlow, isFirst: isFirst, wasHeld: heldSince != nil, isMoved: isMoved,
            macroblocks: macroblocks,
            quantizer: quantizer, bytes: bytes, now: now)
        flowDebt.pay(until: now, bytesPerSecond: bytesPerSecond)
        if isFlow { flowDebt.add(bytes, bytesPerSecond: bytesPerSecond) }
        if kind == .refinement { return }
        heldSince = nil
        // One that had to come at last is hardly a measure for those that follow.
        let measure = record.isEmergency ? min(quantizer, Preference.coarsestMeasure) : quantizer
        motion.coded(kind, macroblocks, quantizer: measure, now)
    }

    /// For refinement to the finest quantizer: how many macroblocks one picture may code now; 0 with the time to ask again
    /// otherwise.
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
        let windowFree = lastSecond.free(for: lineTime(fewest), now)
        if debtFree <= now, windowFree <= now { return (Self.fewestRefined, now) }
        return (0, max(debtFree, windowFree, now + .milliseconds(1)))
    }

    /// One line for people about the last decision and what became of it; built when it is asked for.
    public var lastDecisionDescription: String { record.description }

    /// A picture of refinement occupies the line only so long: the next change may come any time.
    private static let refinementShare = Interval.milliseconds(100)
    /// Fewer macroblocks aren't worth a picture.
    private static let fewestRefined = 32

    /// An IDR picture is what all that follows is predicted from: finer by the factor 1.4 that encoders commonly use.
    private static func quantizer(_ constant: Int, of kind: PictureKind) -> Int {
        kind == .idr ? max(0, constant - 3) : constant
    }

    private mutating func encode(_ quantizer: Int, because reason: DecisionRecord.Reason) -> Decision {
        record.end(.encode(quantizer: quantizer), because: reason)
        return .encode(quantizer: quantizer)
    }

    /// A picture has been held back for as long as anybody waits.
    private mutating func afterPatience(
        _ kind: PictureKind, _ macroblocks: Int, isFlow: Bool, _ now: MonotonicTime
    ) -> Decision? {
        let expectation = expectations.of(kind, isFlow: isFlow, macroblocks)
        let expected = lineTime(expectation.usual(macroblocks, Quantizer.coarsest))
        guard lastSecond.free(for: expected, now) <= now,
            debt.interval(bytesPerSecond: bytesPerSecond) + expected <= Self.longestDebt
        else { return nil }
        return encode(Quantizer.coarsest, because: .patience)
    }

    /// Time that runs back is taken to stand still.
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
        // What fitted the old rate says nothing: the quantizer may jump once.
        motion.forgetQuantizers()
    }

    /// No rate is so small or large that the sums don't work.
    private static func bytesPerSecond(_ bitRate: BitRate) -> Double {
        Double(min(max(bitRate.bitsPerSecond, 1_000), 100_000_000_000)) / 8
    }

    /// How long the line needs for `bytes`.
    func lineTime(_ bytes: Double) -> Interval {
        let seconds = min(bytes / bytesPerSecond, Self.longestDebt.seconds)
        return Interval(nanoseconds: Int64(seconds * 1e9))
    }

    /// When the debt is small enough for another picture.
    func debtFree(_ now: MonotonicTime) -> MonotonicTime {
        let left = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        let slack = Preference.basis(period)
        return left <= slack ? now : now + (left - slack)
    }
}
