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
/// x264 codes each picture at a given quantizer. The number of bytes is known only afterwards, and the picture has to
/// be sent whatever its size, because later pictures are predicted from it.
///
/// A picture starts when the link has carried the pictures before it (`start`). Its quantizer is decided when the work
/// is known, that is, after the screen was grabbed, compared, and searched for motion (`decide`). It is the finest
/// whose expected size the link carries in the picture's time (`limit`). The expected size is the number of macroblocks
/// left to code times the cost of a macroblock, learned from earlier pictures (`CodingCosts`).
///
/// The value has no clock: `now` is an argument, on the caller's monotonic clock. Two threads must not use it at once.
public struct RateController: Sendable {
    /// The bit rate that the link may carry; a new rate applies from the next picture.
    public var bitRate: BitRate {
        didSet {
            if bitRate == oldValue { return }
            bucket.drain(until: latest)
            bucket.change(to: bitRate)
            // The quantizer that suited the old rate says nothing about the new one.
            lastQP = nil
        }
    }
    /// The minimum time between two pictures.
    public var period: Interval

    /// How long a picture of a motion is meant to take at most, however coarse it gets; nil for no limit.
    public var maxStep: Interval?

    /// The finest quantizer that is worth its bytes: visually lossless.
    private let minQP: Int
    private let constantQP: Int?
    private var bucket: LeakyBucket
    private var costs = CodingCosts()
    private var latest = MonotonicTime.zero
    /// When the first change arrived that is in no picture yet. Time that a picture waits is thus no rest.
    private var changedSince: MonotonicTime?
    /// When the picture in progress started, and when the last picture of a change started.
    private var started = MonotonicTime.zero
    private var lastChange: MonotonicTime?
    /// How far apart changes usually are in the motion that goes on; newer ones count more.
    private var usualInterval = Interval.zero
    /// The quantizer of the last picture of the motion that goes on.
    private var lastQP: Int?
    private var lastEvent = Event.nothing

    /// A motion is over after this long without a change.
    private static let rest = Interval.milliseconds(250)
    /// How long a key frame and the first picture after a rest may occupy the link at the finest quantizer.
    private static let page = Interval.milliseconds(40)
    /// In motion, text is readable up to this quantizer.
    public static let readable = 40
    /// So many steps coarser double the time that a page, or a picture of a motion that isn't readable, may take.
    private static let stepsToDouble = 4.0
    /// A picture of a motion may also use the link time that the last second left unused, divided by this.
    private static let partsOfUnused: Int64 = 8
    /// The longest that a picture of a motion is meant to take: viewers tolerate no fewer than 10 fps.
    private static let maxPictureTime = Interval.milliseconds(100)
    /// In motion, a quantizer finer than this gains nothing visible, and the cost of one that is finer than the last
    /// picture's by more than so many steps can't be predicted. Only pictures that fit several times over get either.
    private static let minQPInMotion = 20
    private static let finerStep = 2
    /// How many others a picture may make late, in periods, before it is coded again.
    private static let maxLate: Int64 = 2

    /// Creates a controller for `bitRate` whose pictures come at least `period` apart.
    ///
    /// - Parameters:
    ///   - minQP: The quantizer, 0...51, that refinement ends with and that small changes get at once.
    ///   - constantQP: A quantizer that every picture gets at once, whatever the rate (a key frame gets one that is
    ///     finer by 3); nothing is refined.
    public init(bitRate: BitRate, period: Interval, minQP: Int = 14, constantQP: Int? = nil) {
        self.bitRate = bitRate
        self.period = period
        self.minQP = QP.clamped(minQP)
        self.constantQP = constantQP.map(QP.clamped)
        bucket = LeakyBucket(bitRate)
    }

    /// When a key frame or a change that is due at `now` may start: `now`, or the time at which to ask again. Changes
    /// that arrive meanwhile become part of the picture.
    public mutating func start(_ kind: PictureKind, now: MonotonicTime) -> MonotonicTime {
        let now = advance(to: now)
        if constantQP != nil { return now }
        started = now
        changedSince = changedSince ?? now
        let owed = bucket.time(at: now)
        if owed <= pictureTime { return now }
        let until = free(of: owed, now)
        lastEvent = .waited(kind, until: until, debt: owed)
        return until
    }

    /// Notes that the picture that may start isn't coded, because nothing has changed: the next change doesn't count
    /// its waiting time from here.
    public mutating func cancel() { changedSince = nil }

    /// Decides how finely to code a picture of `kind` that may start now and has `macroblocks` left to code, neither
    /// unchanged nor moved. `difference` is the mean difference of their samples from the previous picture; nil if
    /// unknown. `isMoved` means that all other macroblocks are taken from the previous picture by moving it, `isApart`
    /// that the macroblocks to code are only a small part of the change. `rest` has, for each quantizer, how many other
    /// macroblocks would be coded as well, because they are coarser.
    public mutating func decide(
        _ kind: PictureKind, macroblocks: Int, difference: Double? = nil, rest: [Int] = [], isMoved: Bool = false,
        isApart: Bool = false, now: MonotonicTime
    ) -> Decision {
        let now = advance(to: now)
        let isFirst = lastChange.map { (changedSince ?? now) - $0 >= Self.rest } ?? true
        let pictureClass: CodingCosts.PictureClass =
            switch kind {
            case .keyFrame: .keyFrame
            case .change: isMoved ? .restOfMoved : isFirst ? .first : .change
            case .refinement: .refinement
            }
        var decision = Decision(kind: kind, macroblocks: macroblocks, qp: minQP, pictureClass: pictureClass)
        decision.difference = difference.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        decision.isApart = isApart
        decision.debt = bucket.time(at: now)
        if let constantQP {
            // All later pictures are predicted from a key frame, so it is coded finer: 3 quantizers make the step size
            // smaller by the factor 1.4 that encoders commonly use.
            decision.qp = kind == .keyFrame ? max(0, constantQP - 3) : constantQP
        } else if macroblocks > 0 {
            if kind == .change, !isFirst { decision.budget = budget(now) }
            choose(for: &decision, rest)
        }
        return decision
    }

    /// A picture whose quantizer is given, for `coded`.
    public func given(_ kind: PictureKind, macroblocks: Int, qp: Int) -> Decision {
        Decision(
            kind: kind, macroblocks: macroblocks, qp: QP.clamped(qp),
            pictureClass: kind == .keyFrame ? .keyFrame : kind == .refinement ? .refinement : .change)
    }

    /// Chooses the finest quantizer at which the picture fits.
    private func choose(for decision: inout Decision, _ rest: [Int]) {
        let macroblocks = decision.macroblocks
        let bold = decision.budget == nil ? minQP : boldQP
        for qp in minQP...QP.maximum {
            let more = rest.indices.contains(qp) ? rest[qp] : 0
            decision.macroblocks = macroblocks.addingReportingOverflow(more).partialValue
            decision.qp = qp
            let bytes = costs.expected(decision.pictureClass, decision.macroblocks, decision.difference, at: qp)
            decision.expected = bytes
            let factor = qp < bold ? CodingCosts.caution : 1
            if bucket.time(toCarry: bytes * factor) <= limit(qp, decision.budget) { return }
        }
    }

    /// Finer than this, a picture of a motion has to fit several times over.
    private var boldQP: Int { max(Self.minQPInMotion, (lastQP ?? 0) - Self.finerStep) }

    /// How long a picture of a motion may occupy the link: the usual interval between changes, and a part of the time
    /// that the last second left unused. A single large change among small ones is thus sharp, and a film uses all of
    /// the link. Debt is paid back, but half a period always remains, so that no single picture has to pay all of it.
    private func budget(_ now: MonotonicTime) -> Interval {
        let time = max(usualInterval, period) + bucket.unused(at: now) / Self.partsOfUnused
        return max(min(time, Self.maxPictureTime) - bucket.time(at: now), pictureTime / 2)
    }

    /// How long a picture of `qp` may occupy the link. In a motion with `budget`, the frame rate stays as long
    /// as text is readable; coarser pictures save little, so it falls as well. A change after a rest is usually
    /// a new page, which is better sharp than immediate.
    private func limit(_ qp: Int, _ budget: Interval?) -> Interval {
        let (time, steps) = budget == nil ? (Self.page, minQP) : (pictureTime, Self.readable)
        let beyond = max(0, qp - steps)
        let longer = Interval(seconds: time.seconds * CodingCosts.power(Double(beyond) / Self.stepsToDouble))
        // A picture that turns out twice as large as expected is still paid back.
        guard let budget else { return min(longer, LeakyBucket.maxTime / 2) }
        return beyond == 0 ? budget : max(budget, min(longer, maxStep ?? longer))
    }

    /// The quantizer at which to re-encode a picture that had `byteCount` bytes; nil if the picture is to be sent. A
    /// picture of a motion that makes two others late shows another scene.
    ///
    /// Unless the result is nil, learns the rejected picture's size: `coded` is called only for pictures that are sent.
    public mutating func retryQP(for decision: Decision, byteCount: Int) -> Int? {
        guard let budget = decision.budget, decision.qp < QP.maximum else { return nil }
        let time = bucket.time(toCarry: Double(byteCount))
        // A picture that was expected to be so large is the best that the link allows.
        let planned = max(budget, bucket.time(toCarry: decision.expected ?? 0))
        guard time > planned + pictureTime * Self.maxLate else { return nil }
        update(decision, at: decision.qp, Double(byteCount))
        let factor = time.seconds / max(planned, pictureTime * Self.maxLate).seconds
        return QP.clamped(decision.qp + CodingCosts.steps(toDivideBy: factor))
    }

    /// Records the result of a picture that was coded as `decision` says, or at another `qp`.
    public mutating func coded(_ decision: Decision, qp: Int, byteCount: Int, now: MonotonicTime) {
        let now = advance(to: now)
        let bytes = Double(min(max(byteCount, 0), 1 << 40))
        let qp = QP.clamped(qp)
        lastEvent = .coded(decision, qp: qp, byteCount: byteCount)
        bucket.drain(until: now)
        bucket.add(bytes)
        guard decision.macroblocks > 0, !decision.isApart else { return }
        update(decision, at: qp, bytes)
        if decision.kind == .refinement { return }
        if decision.kind == .change {
            let interval = lastChange.map { (changedSince ?? started) - $0 } ?? .zero
            usualInterval = decision.budget == nil ? .zero : (usualInterval + interval) / 2
            lastChange = started
        }
        lastQP = decision.kind == .change && decision.budget == nil ? nil : max(qp, boldQP)
        changedSince = nil
    }

    private mutating func update(_ decision: Decision, at qp: Int, _ bytes: Double) {
        costs.update(decision.pictureClass, decision.macroblocks, decision.difference, at: qp, bytes: bytes)
    }

    /// How many macroblocks one picture of refinement to the finest quantizer may code now; 0 if it may code none yet,
    /// and then the time to ask again.
    public func refinementAllowance(now: MonotonicTime) -> (macroblocks: Int, waitUntil: MonotonicTime) {
        if constantQP != nil { return (0, .distantFuture) }
        let now = max(now, latest)
        let owed = bucket.time(at: now)
        if owed > pictureTime { return (0, free(of: owed, now)) }
        // A change may come at any time, and soon in a motion.
        let room = bucket.bytes(in: budget(now))
        let each = costs.expected(.refinement, 1, at: minQP)
        return (max(1, Int(min(room / each, 1e9))), now)
    }

    /// How long the link needs to refine so many macroblocks to the finest quantizer; at most `LeakyBucket.maxTime`.
    public func refinementTime(macroblocks: Int) -> Interval {
        bucket.time(toCarry: costs.expected(.refinement, macroblocks, at: minQP))
    }

    /// The expected bytes of so many macroblocks of a change at `qp`; `isMoved` tells whether they are the rest after
    /// moving the previous picture.
    public func expectedBytes(macroblocks: Int, qp: Int, isMoved: Bool) -> Double {
        costs.expected(isMoved ? .restOfMoved : .change, macroblocks, at: qp)
    }

    /// One line of text about the last decision and its result; built on demand.
    public var lastDecisionDescription: String { lastEvent.description }

    /// The period, within 1…100 ms: how long a picture may occupy the link, and the debt that the next may start with.
    private var pictureTime: Interval { min(max(period, .milliseconds(1)), Self.maxPictureTime) }

    /// When so little is owed that a picture may start.
    private func free(of owed: Interval, _ now: MonotonicTime) -> MonotonicTime {
        now + max(owed - pictureTime, .milliseconds(1))
    }

    /// Treats a clock that runs backwards as one that stands still.
    private mutating func advance(to now: MonotonicTime) -> MonotonicTime {
        latest = max(latest, now)
        return latest
    }
}
