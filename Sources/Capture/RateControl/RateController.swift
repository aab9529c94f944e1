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

/// Decides when a picture may start, and how finely it is coded, so that a link of a given bit rate carries it.
///
/// x264 codes each picture at the quantizer it is given. The number of bytes is known only afterwards, and whatever
/// comes out has to be sent, because later pictures are predicted from it.
///
/// A picture starts when the link has carried the pictures before it (`start`). Its quantizer is decided when the work
/// is known, that is, after the screen was grabbed, compared, and searched for motion (`decide`). It is the finest
/// whose expected size the link carries in the picture's time (`PictureBudget`). The expected size is the number of
/// macroblocks left to code times the cost of a macroblock, learned from earlier pictures (`CodingCosts`).
///
/// The value has no clock: `now` is an argument, on the caller's monotonic clock. Two threads must not use it at once.
public struct RateController: Sendable {
    /// The bit rate that the link may carry; a new rate applies from the next picture.
    public var bitRate: BitRate {
        didSet { adoptBitRate() }
    }
    /// The minimum time between two pictures.
    public var period: Interval

    /// The finest quantizer that is worth its bytes: visually lossless.
    private let finest: Int
    private let constantQuantizer: Int?
    /// The bytes that the link carries in a second.
    private var bytesPerSecond: Double
    private var debt = LinkDebt()
    private var costs = CodingCosts()
    private var pace = ChangePace()
    private var latest = MonotonicTime.zero
    private var record = DecisionRecord()

    /// The longest that a change is held back. Viewers don't put up with a screen that stands still for longer while it
    /// changes, so after this a picture is sent, however coarse it is.
    private static let patience = Interval.seconds(2)
    /// The largest debt that a key frame may start with, and the longest that it is held back; a viewer that waits for
    /// one sees nothing at all.
    private static let keyFramePatience = Interval.milliseconds(300)
    /// The largest debt that is recorded, so that the picture never stops for good.
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
        self.finest = Quantizer.clamped(finest)
        self.constantQuantizer = constantQuantizer.map(Quantizer.clamped)
        bytesPerSecond = Self.bytesPerSecond(bitRate)
    }

    /// When a key frame or a change that is due at `now` may start: `now`, or the time at which to ask again. Changes
    /// that come meanwhile are part of the same picture.
    public mutating func start(_ kind: PictureKind, now: MonotonicTime) -> MonotonicTime {
        let now = advance(to: now)
        if constantQuantizer != nil { return now }
        let since = pace.noticeChange(now)
        let owed = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        let bearable = kind == .keyFrame ? Self.keyFramePatience : PictureBudget.basis(period)
        if owed <= bearable { return now }
        let patient = since + (kind == .keyFrame ? Self.keyFramePatience : Self.patience)
        // Where even the coarsest pictures are more than the link carries, patience alone would pile them up.
        if now >= patient, owed <= Self.longestDebt / 2 { return now }
        let free = now + (owed - bearable)
        let until = max(now + .milliseconds(1), patient > now ? min(free, patient) : free)
        record.wait(kind, until: until, debt: owed)
        return until
    }

    /// Decides how finely to code a picture of `kind` that may start now and has `macroblocks` left to code: neither
    /// unchanged nor moved. `isMoved` tells whether all the others are taken from the previous picture by moving it,
    /// and `isApart` whether it is only a small part of what has changed. `rest` has, for each quantizer, how many
    /// other macroblocks would be coded as well, because they are coarser.
    public mutating func decide(
        _ kind: PictureKind, macroblocks: Int, rest: [Int] = [], isMoved: Bool = false, isApart: Bool = false,
        now: MonotonicTime
    ) -> Decision {
        let now = advance(to: now)
        let isFirst = kind == .change && pace.isFirst
        let sort: CodingCosts.Sort =
            switch kind {
            case .keyFrame: .keyFrame
            case .refinement: .refinement
            case .change: isMoved ? .restOfMoved : isFirst ? .first : .change
            }
        var decision = Decision(kind: kind, macroblocks: macroblocks, quantizer: finest, sort: sort)
        decision.isApart = isApart
        decision.debt = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        if let constantQuantizer {
            // All later pictures are predicted from a key frame, so it is coded finer: 3 quantizers make the step size
            // smaller by the factor 1.4 that encoders commonly use.
            decision.quantizer = kind == .keyFrame ? max(0, constantQuantizer - 3) : constantQuantizer
        } else if macroblocks > 0 {
            if kind != .refinement { choose(for: &decision, rest, isFirst: isFirst, now) }
            decision.expected = costs.expected(sort, decision.macroblocks, decision.quantizer)
        }
        return decision
    }

    /// A picture whose quantizer is given, for `coded`.
    public func given(_ kind: PictureKind, macroblocks: Int, quantizer: Int) -> Decision {
        Decision(
            kind: kind, macroblocks: macroblocks, quantizer: Quantizer.clamped(quantizer),
            sort: kind == .keyFrame ? .keyFrame : kind == .refinement ? .refinement : .change)
    }

    private func choose(for decision: inout Decision, _ rest: [Int], isFirst: Bool, _ now: MonotonicTime) {
        var budget = PictureBudget(period: period)
        if decision.kind == .change, !isFirst {
            budget.setMotion(
                usualInterval: pace.usualInterval, unused: debt.unused(at: now), debt: decision.debt)
        }
        decision.budget = budget.motion
        let macroblocks = decision.macroblocks
        func work(_ quantizer: Int) -> Int {
            rest.indices.contains(quantizer)
                ? macroblocks.addingReportingOverflow(rest[quantizer]).partialValue : macroblocks
        }
        func fits(_ quantizer: Int, times factor: Double) -> Bool {
            linkTime(factor * costs.expected(decision.sort, work(quantizer), quantizer))
                <= budget.limit(quantizer)
        }
        func finest(from first: Int, times factor: Double = 1) -> Int {
            (first..<Quantizer.coarsest).first { fits($0, times: factor) } ?? Quantizer.coarsest
        }
        guard budget.motion != nil else {
            decision.quantizer = finest(from: self.finest)
            decision.macroblocks = work(decision.quantizer)
            return
        }
        let isLarge = decision.macroblocks >= PictureBudget.large || decision.sort == .restOfMoved
        decision.quantizer = finest(from: isLarge ? max(self.finest, PictureBudget.motionFloor) : self.finest)
        // A picture that fits even if it costs several times as much needs no caution.
        decision.isSafe = fits(decision.quantizer, times: PictureBudget.caution)
        if !decision.isSafe, let least = pace.finestQuantizer, decision.quantizer < least {
            decision.quantizer = min(least, finest(from: decision.quantizer, times: PictureBudget.caution))
        }
        decision.macroblocks = work(decision.quantizer)
    }

    /// The quantizer at which to code a picture again that had `byteCount` bytes; nil if it is to be sent. A picture of
    /// a motion that makes two others late shows another scene.
    public mutating func coarser(than decision: Decision, byteCount: Int) -> Int? {
        guard let budget = decision.budget, decision.sort == .change else { return nil }
        let basis = PictureBudget.basis(period)
        let time = linkTime(Double(byteCount))
        // What was expected to be so large is the best that the link allows.
        let isSurprise = Double(byteCount) > 2 * (decision.expected ?? 0)
        guard isSurprise, time > budget + basis * 2, decision.quantizer < Quantizer.coarsest else { return nil }
        costs.learn(
            decision.sort, macroblocks: decision.macroblocks, quantizer: decision.quantizer, bytes: Double(byteCount))
        let factor = time.seconds / max(budget, basis * 2).seconds
        return Quantizer.clamped(decision.quantizer + costs.steps(toDivideBy: factor))
    }

    /// Records the result of a picture that was coded as `decision` says, or at another `quantizer`.
    public mutating func coded(_ decision: Decision, quantizer: Int, byteCount: Int, now: MonotonicTime) {
        let now = advance(to: now)
        let bytes = Double(min(max(byteCount, 0), 1 << 40))
        let quantizer = Quantizer.clamped(quantizer)
        record.coded(decision, quantizer: quantizer, byteCount: byteCount)
        debt.pay(until: now, bytesPerSecond: bytesPerSecond)
        debt.add(bytes, bytesPerSecond: bytesPerSecond)
        guard decision.macroblocks > 0, !decision.isApart else { return }
        costs.learn(decision.sort, macroblocks: decision.macroblocks, quantizer: quantizer, bytes: bytes)
        if decision.kind != .refinement { pace.coded(decision, quantizer: quantizer) }
    }

    /// How many macroblocks one picture of refinement to the finest quantizer may code now; 0 if it may code none yet,
    /// and then the time to ask again.
    public func refinementAllowance(now: MonotonicTime) -> (macroblocks: Int, waitUntil: MonotonicTime) {
        if constantQuantizer != nil { return (0, .distantFuture) }
        let now = max(now, latest)
        let owed = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        let bearable = PictureBudget.basis(period)
        if owed > bearable { return (0, now + max(owed - bearable, .milliseconds(1))) }
        // In motion, a change is about to come: only what the link has to spare.
        let spare = pace.isResting(now) ? .seconds(1) : max(bearable, debt.unused(at: now) / 4)
        let room = min(PictureBudget.refinement, spare).seconds * bytesPerSecond
        return (max(PictureBudget.fewestRefined, costs.refinable(in: room, quantizer: finest)), now)
    }

    /// How many bytes so many macroblocks of a change are expected to have at `quantizer`; `isMoved` tells whether they
    /// are what moving the previous picture leaves.
    public func expectedBytes(macroblocks: Int, quantizer: Int, isMoved: Bool) -> Double {
        costs.expected(isMoved ? .restOfMoved : .change, macroblocks, quantizer)
    }

    /// One line of text about the last decision and its result; built on demand.
    public var lastDecisionDescription: String { record.description }

    /// Treats a clock that runs backwards as one that stands still.
    private mutating func advance(to now: MonotonicTime) -> MonotonicTime {
        latest = max(latest, now)
        return latest
    }

    private mutating func adoptBitRate() {
        let new = Self.bytesPerSecond(bitRate)
        guard new != bytesPerSecond else { return }
        debt.pay(until: latest, bytesPerSecond: bytesPerSecond)
        bytesPerSecond = new
        debt.limit(bytesPerSecond: new)
        // The quantizers that suited the old rate say nothing about the new one.
        pace.forgetQuantizer()
    }

    /// Clamps the rate to a range in which the arithmetic works.
    private static func bytesPerSecond(_ bitRate: BitRate) -> Double {
        Double(min(max(bitRate.bitsPerSecond, 1_000), 100_000_000_000)) / 8
    }

    /// How long the link needs to carry `bytes`, at most `longestDebt`.
    private func linkTime(_ bytes: Double) -> Interval {
        let seconds = min(max(bytes, 0) / bytesPerSecond, Self.longestDebt.seconds)
        return Interval(nanoseconds: Int64(seconds * 1e9))
    }
}
