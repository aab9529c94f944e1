import MediaTypes

extension RateController {
    /// The next picture of a flowing motion, such as a scroll; nil if it can't flow: in a film, or on too slow a link.
    ///
    /// The picture is sent although a debt is left. Waiting would cost more than it saves, because a later picture
    /// would no longer be part of the motion. In return, the motion uses less than the link carries, so that the debt
    /// falls.
    func flowProposal(_ macroblocks: Int, _ now: MonotonicTime) -> PictureProposal? {
        guard let last = motion.lastWhole, !expectations.isFilm else { return nil }
        let owed = debt.interval(at: now, bytesPerSecond: bytesPerSecond)
        let ownDebt = flowDebt.interval(at: now, bytesPerSecond: bytesPerSecond)
        guard owed <= Self.longestDebtInFlow, ownDebt <= Self.longestOwnDebt else { return nil }
        let expectation = expectations.of(.change, isFlow: true, macroblocks)
        if linkTime(expectation.usual(macroblocks, Self.coarsestLate)) > Self.longestPicture { return nil }

        let isSlow = linkTime(expectation.usual(macroblocks, Self.coarsest)) > Self.longestReadable
        let share =
            isSlow ? Self.shareOfSlowLink : owed > QualityTradeoff.basis(period) * 3 ? Self.shareInDebt : Self.share
        let catchingUp = max(.zero, ownDebt - QualityTradeoff.basis(period)) / Self.picturesToCatchUp
        let late = max(.zero, ownDebt - Self.bearableOwnDebt)
        let coarsest =
            isSlow
            ? Self.coarsestLate
            : min(Self.coarsest + Int(late.milliseconds / Self.millisecondsEachStep), Self.coarsestLate)
        func interval(_ quantizer: Int) -> Interval {
            linkTime(expectation.usual(macroblocks, quantizer) / share) + catchingUp
        }
        var quantizer = max(finest, QualityTradeoff.motionFloor)
        while quantizer < coarsest,
            interval(quantizer)
                > min(QualityTradeoff.limit(quantizer, .sustained, period: period), Self.longestInterval)
        {
            quantizer += 1
        }
        quantizer = max(motion.steady(quantizer, macroblocks, now), finest)
        // A picture that costs more than its share is compensated for by those that follow.
        let wait = interval(quantizer)
        let start = wait <= QualityTradeoff.basis(period) ? now : max(now, last + min(wait, Self.longestInterval))
        let expected = expectation.usual(macroblocks, quantizer)
        return PictureProposal(
            quantizer: quantizer, start: start, expected: expected, most: expectation.most(macroblocks, quantizer),
            reason: start > now ? .debt : .flow)
    }

    /// The coarsest quantizers of a flowing motion. At the first, text is still readable while it moves. If that
    /// doesn't suffice, a picture that is coarser still, up to the second, is better than a new page. Beyond that, a
    /// picture predicts the next one so badly that nothing is saved.
    private static let coarsest = 34
    private static let coarsestLate = 46
    /// The longest planned interval between two pictures: a margin is left because a picture comes a little after it is
    /// due.
    private static let longestInterval = MotionHistory.flowGap - .milliseconds(15)
    /// The share of the link that a motion uses: most of it, and less while its first picture is still being paid for.
    private static let share = 0.95
    private static let shareInDebt = 0.85
    /// On a slow link, few pictures fit into a second, so an expensive one has more weight.
    private static let shareOfSlowLink = 0.7
    private static let longestReadable = Interval.milliseconds(95)
    private static let bearableOwnDebt = Interval.milliseconds(90)
    private static let millisecondsEachStep: Int64 = 12
    private static let picturesToCatchUp: Int64 = 6
    /// Beyond these limits, a picture waits like any other.
    private static let longestOwnDebt = Interval.seconds(2)
    private static let longestDebtInFlow = Interval.seconds(3)
    private static let longestPicture = Interval.milliseconds(400)
}
