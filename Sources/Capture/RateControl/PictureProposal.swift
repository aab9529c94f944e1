import MediaTypes

/// The finest picture that is worth the time it occupies the link, and when it may start.
struct PictureProposal {
    var quantizer: Int
    var start: MonotonicTime
    /// The expected size in bytes.
    var expected: Double
    /// The size in bytes that the picture will hardly exceed.
    var most: Double
    var reason: DecisionRecord.Reason
}

extension RateController {
    func proposal(for kind: PictureKind, _ macroblocks: Int, isFlow: Bool, _ now: MonotonicTime) -> PictureProposal {
        if isFlow, let proposal = flowProposal(macroblocks, now) { return proposal }
        let pace = pace(of: kind, macroblocks, now)
        let expectation = expectations.of(kind, isFlow: false, macroblocks)
        let free = debtFree(now)
        if kind == .refinement {
            let bytes = expectation.most(macroblocks, finest)
            let windowFree = lastSecond.free(for: linkTime(bytes), now)
            let reason: DecisionRecord.Reason =
                windowFree > free ? .lastSecond : free > now ? .debt : .refinement
            return PictureProposal(
                quantizer: finest, start: max(free, windowFree), expected: bytes, most: bytes, reason: reason)
        }

        var quantizer = finest
        let isLargeMotion = pace != .burst && macroblocks >= QualityTradeoff.largeShare
        if isLargeMotion || motion.isMoving(macroblocks, now) {
            quantizer = max(finest, QualityTradeoff.motionFloor)
        }
        var proposal = offer(quantizer, kind, pace, expectation, macroblocks, now)
        while quantizer < Quantizer.coarsest, !isWorthwhile(proposal, pace) {
            quantizer += 1
            proposal = offer(quantizer, kind, pace, expectation, macroblocks, now)
        }
        guard kind == .change, pace != .burst else { return proposal }
        let steadied = motion.steady(proposal.quantizer, macroblocks, now)
        if steadied == proposal.quantizer { return proposal }
        let held = offer(max(steadied, finest), kind, pace, expectation, macroblocks, now)
        // The picture takes much longer than it should: it shows another scene, which is worth a jump.
        let isTooLarge = linkTime(held.expected) > limit(held, pace) * 4 || linkTime(held.most) > LastSecond.limit
        if steadied < proposal.quantizer, isTooLarge { return proposal }
        return held
    }

    /// A picture at `quantizer` that starts as soon as there is room for it.
    private func offer(
        _ quantizer: Int, _ kind: PictureKind, _ pace: MotionHistory.Pace, _ expectation: SizeExpectation,
        _ macroblocks: Int, _ now: MonotonicTime
    ) -> PictureProposal {
        let expected = expectation.usual(macroblocks, quantizer)
        let most = expectation.most(macroblocks, quantizer)
        let free = debtFree(now)
        var proposal = PictureProposal(
            quantizer: quantizer, start: free, expected: expected, most: most,
            reason: free > now ? .debt : .preference)
        // Nobody sees anything without a key frame, and a turned page is wanted at once; the pictures that follow
        // pay for it.
        if kind == .keyFrame || isTurnedPage(kind, macroblocks, now) { return proposal }
        // A page that jumps in the middle of a motion need only wait until there is room for its expected size, and a
        // picture of a video for little more, because those that follow make up for one that is larger.
        let isPage = kind == .change && macroblocks >= QualityTradeoff.largeShare && !expectations.isFilm
        let room = isPage ? expected : pace == .video ? min(most, expected * Self.roomInVideo) : most
        let windowFree = lastSecond.free(for: linkTime(room), now)
        if windowFree > free {
            proposal.start = windowFree
            proposal.reason = .lastSecond
        }
        return proposal
    }

    private func isTurnedPage(_ kind: PictureKind, _ macroblocks: Int, _ now: MonotonicTime) -> Bool {
        kind == .change && macroblocks >= QualityTradeoff.largeShare && motion.pace(kind, macroblocks, now) == .burst
    }

    private func limit(_ proposal: PictureProposal, _ pace: MotionHistory.Pace) -> Interval {
        QualityTradeoff.limit(proposal.quantizer, pace, period: period)
    }

    /// Whether the picture is worth the time that it is expected to occupy the link and, in motion, the time that it
    /// may occupy it at worst. Much room must be kept free for a picture that may be large, and the others come less
    /// often.
    private func isWorthwhile(_ proposal: PictureProposal, _ pace: MotionHistory.Pace) -> Bool {
        let limit = limit(proposal, pace)
        if linkTime(proposal.expected) > limit { return false }
        return pace == .burst || linkTime(proposal.most) <= min(limit * 4, Self.mostOfSecond)
    }

    /// In motion, a picture may take no more than this of a second, or the next one has to wait for another second.
    private static let mostOfSecond = Interval.milliseconds(650)

    private static let roomInVideo = 1.2

    /// The pace of a picture, as far as it decides how long the picture may take. Text that jumps, because it moves
    /// faster than the link can follow, is a new page each time; a film is not.
    private func pace(of kind: PictureKind, _ macroblocks: Int, _ now: MonotonicTime) -> MotionHistory.Pace {
        let pace = motion.pace(kind, macroblocks, now)
        guard kind == .change else { return pace }
        // In a scroll, only a page that turns costs anything, and it may take as long as one after a rest. Or each page
        // would make the pictures after it coarser, which cost next to nothing and so never show that they needn't be.
        if motion.isMoving(macroblocks, now) { return .burst }
        if macroblocks >= QualityTradeoff.largeShare, !expectations.isFilm { return .burst }
        return pace == .sustained && isVideo ? .video : pace
    }
}
