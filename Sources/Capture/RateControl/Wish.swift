import MediaTypes

/// The finest picture that is worth the time it occupies the line, and when it may start.
struct Wish {
    var quantizer: Int
    var start: MonotonicTime
    /// Bytes that are expected of it.
    var expected: Double
    /// Bytes that it will hardly exceed.
    var most: Double
    var reason: DecisionRecord.Reason
}

extension RateController {
    func wish(for kind: PictureKind, _ macroblocks: Int, _ now: MonotonicTime) -> Wish {
        let isFlow = motion.isFlow(kind, macroblocks, now)
        let pace = pace(of: kind, macroblocks, isFlow: isFlow, now)
        let expectation = expectations.of(kind, isFlow: isFlow, macroblocks)
        let free = debtFree(now)
        if kind == .refinement {
            let bytes = expectation.most(macroblocks, finest)
            let windowFree = lastSecond.free(for: lineTime(bytes), now)
            let reason: DecisionRecord.Reason =
                windowFree > free ? .lastSecond : free > now ? .debt : .refinement
            return Wish(
                quantizer: finest, start: max(free, windowFree), expected: bytes, most: bytes, reason: reason)
        }

        var quantizer = finest
        if pace == .sustained, macroblocks >= Preference.largeShare { quantizer = max(finest, Preference.motionFloor) }
        var wish = offer(quantizer, kind, expectation, macroblocks, isFlow: isFlow, now)
        while quantizer < Quantizer.coarsest, !isWorthwhile(wish, pace) || isFlow && stops(wish, now) {
            quantizer += 1
            wish = offer(quantizer, kind, expectation, macroblocks, isFlow: isFlow, now)
        }
        guard kind == .change, pace == .sustained else { return wish }
        let steadied = motion.steady(wish.quantizer, macroblocks, now)
        if steadied == wish.quantizer { return wish }
        let held = offer(max(steadied, finest), kind, expectation, macroblocks, isFlow: isFlow, now)
        // Much more than it should take: this is another scene, and worth a jump.
        let isTooLarge = lineTime(held.expected) > limit(held, pace) * 4 || lineTime(held.most) > LastSecond.limit
        if steadied < wish.quantizer, isTooLarge { return wish }
        return held
    }

    /// A picture at `quantizer`, as soon as there is room for it.
    private func offer(
        _ quantizer: Int, _ kind: PictureKind, _ expectation: SizeExpectation, _ macroblocks: Int,
        isFlow: Bool, _ now: MonotonicTime
    ) -> Wish {
        let expected = expectation.usual(macroblocks, quantizer)
        let most = expectation.most(macroblocks, quantizer)
        var free = debtFree(now)
        let flowing = isFlow ? flowStart(expected, now) : nil
        if let flowing { free = min(free, flowing) }
        var wish = Wish(
            quantizer: quantizer, start: free, expected: expected, most: most,
            reason: free > now ? .debt : .preference)
        // Without an IDR nobody sees anything; all that come after it pay for it.
        if kind == .idr { return wish }
        let windowFree = lastSecond.free(for: lineTime(most), besideJumps: flowing != nil, now)
        if windowFree > free {
            wish.start = windowFree
            wish.reason = .lastSecond
        }
        return wish
    }

    private func limit(_ wish: Wish, _ pace: MotionHistory.Pace) -> Interval {
        Preference.limit(wish.quantizer, pace, period: period)
    }

    /// Whether the picture is worth the time that it will occupy the line, and that it may occupy it at the worst: much is
    /// to be kept free for a picture that may be large, and the others come more seldom.
    private func isWorthwhile(_ wish: Wish, _ pace: MotionHistory.Pace) -> Bool {
        let limit = limit(wish, pace)
        if lineTime(wish.expected) > limit { return false }
        return pace == .burst || lineTime(wish.most) <= min(limit * 4, Self.mostOfSecond)
    }

    /// Whether a motion would stop to flow for this picture's sake although a coarser one could still be read.
    private func stops(_ wish: Wish, _ now: MonotonicTime) -> Bool {
        let owed = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        if wish.quantizer >= (owed > Self.largeFlowDebt * 3 ? Self.coarsestLateFlow : Self.coarsestFlow) {
            return false
        }
        return lineTime(wish.expected / Self.flowShare) > MotionHistory.flowGap - Self.flowSlack
    }

    /// Text is still readable while it moves; where it comes late as well, to catch up is better.
    private static let coarsestFlow = 34
    private static let coarsestLateFlow = 40
    /// A picture that is due is late by this much at most.
    private static let flowSlack = Interval.milliseconds(15)

    /// In motion no picture may take so much of a second that the next has to wait for another one.
    private static let mostOfSecond = Interval.milliseconds(650)

    /// How a picture comes, as far as that decides how long it may take. A text that jumps, because it moves faster than the
    /// line can follow, is a new page each time; a film is not.
    private func pace(
        of kind: PictureKind, _ macroblocks: Int, isFlow: Bool, _ now: MonotonicTime
    ) -> MotionHistory.Pace {
        let pace = motion.pace(kind, macroblocks, now)
        guard kind == .change, macroblocks >= Preference.largeShare, !isFlow, !expectations.isFilm else { return pace }
        return .burst
    }

    /// When the next picture of a flowing motion may start although a debt is left, because less is spent than the line
    /// carries meanwhile; nil where the motion would stop to flow, or the debt is too large.
    ///
    /// To wait for the debt would cost more than it saves: the next picture would be no part of the motion any more.
    private func flowStart(_ bytes: Double, _ now: MonotonicTime) -> MonotonicTime? {
        let owed = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        guard let last = motion.lastLarge, owed <= Self.longestFlowDebt else { return nil }
        let wait = lineTime(bytes / (owed > Self.largeFlowDebt ? Self.smallFlowShare : Self.flowShare))
        // One that costs more than its share is made up for by those that follow: to stop would cost far more.
        return max(now, last + min(wait, MotionHistory.flowGap - Self.flowSlack))
    }

    /// The part of the line that a flowing motion takes at most while there is a debt: all that is shown comes later by the
    /// debt, so that a large one has to go fast.
    private static let flowShare = 0.85
    private static let smallFlowShare = 0.7
    private static let largeFlowDebt = Interval.milliseconds(300)
    private static let longestFlowDebt = Interval.seconds(3)
}
