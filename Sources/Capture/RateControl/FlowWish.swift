import MediaTypes

extension RateController {
    /// The next picture of a motion that flows; nil where it can't: in a film, and where the line is too slow.
    ///
    /// It comes although a debt is left: to wait would cost more than it saves, as the next picture would be no part of the
    /// motion any more. In return the motion spends less than the line carries, so that the debt falls.
    func flowWish(_ macroblocks: Int, _ now: MonotonicTime) -> Wish? {
        guard let last = motion.lastWhole, !expectations.isFilm else { return nil }
        let owed = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        let ownDebt = flowDebt.interval(at: now, bytesPerSecond: bytesPerSecond)
        guard owed <= Self.longestDebtInFlow, ownDebt <= Self.longestOwnDebt else { return nil }
        let expectation = expectations.of(.change, isFlow: true, macroblocks)
        if lineTime(expectation.usual(macroblocks, Self.coarsestLate)) > Self.longestPicture { return nil }

        let isSlow = lineTime(expectation.usual(macroblocks, Self.coarsest)) > Self.longestReadable
        let share = isSlow ? Self.shareOfSlowLine : owed > Preference.basis(period) * 3 ? Self.shareInDebt : Self.share
        let catchingUp = max(.zero, ownDebt - Preference.basis(period)) / Self.picturesToCatchUp
        let late = max(.zero, ownDebt - Self.bearableOwnDebt)
        let coarsest =
            isSlow
            ? Self.coarsestLate
            : min(Self.coarsest + Int(late.milliseconds / Self.millisecondsEachStep), Self.coarsestLate)
        func interval(_ quantizer: Int) -> Interval {
            lineTime(expectation.usual(macroblocks, quantizer) / share) + catchingUp
        }
        var quantizer = max(finest, Preference.motionFloor)
        while quantizer < coarsest,
            interval(quantizer) > min(Preference.limit(quantizer, .sustained, period: period), Self.longestInterval)
        {
            quantizer += 1
        }
        quantizer = max(motion.steady(quantizer, macroblocks, now), finest)
        // One that costs more than its share is made up for by those that follow.
        let wait = interval(quantizer)
        let start = wait <= Preference.basis(period) ? now : max(now, last + min(wait, Self.longestInterval))
        let expected = expectation.usual(macroblocks, quantizer)
        return Wish(
            quantizer: quantizer, start: start, expected: expected, most: expectation.most(macroblocks, quantizer),
            reason: start > now ? .debt : .flow)
    }

    /// Text is still readable while it moves; where that doesn't suffice, a coarser picture is better than a new page. Still
    /// coarser ones predict the next so badly that nothing is saved.
    private static let coarsest = 34
    private static let coarsestLate = 46
    /// A picture that is due comes a little late.
    private static let longestInterval = MotionHistory.flowGap - .milliseconds(15)
    /// The part of the line that a motion spends: most of it, less while what it began with is still to be carried.
    private static let share = 0.95
    private static let shareInDebt = 0.85
    /// Where few pictures fill a second, a dear one weighs more.
    private static let shareOfSlowLine = 0.7
    private static let longestReadable = Interval.milliseconds(95)
    private static let bearableOwnDebt = Interval.milliseconds(90)
    private static let millisecondsEachStep: Int64 = 12
    private static let picturesToCatchUp: Int64 = 6
    /// Beyond these it waits after all.
    private static let longestOwnDebt = Interval.seconds(2)
    private static let longestDebtInFlow = Interval.seconds(3)
    private static let longestPicture = Interval.milliseconds(400)
}
