import MediaTypes

/// The finest picture that is worth the time it occupies the line, and when it may start.
struct Wish {
    var quantizer: Int
    var start: MonotonicTime
    /// Bytes that are expected of it.
    var expected: Double
    var reason: DecisionRecord.Reason
}

extension RateController {
    func wish(for kind: PictureKind, _ macroblocks: Int, _ now: MonotonicTime) -> Wish {
        let pace = motion.pace(kind, macroblocks, now)
        let expectation = expectations.of(kind, pace, macroblocks)
        let free = debtFree(now)
        if kind == .refinement {
            let bytes = expectation.most(macroblocks, finest)
            let start = max(free, lastSecond.free(for: lineTime(bytes), now))
            return Wish(
                quantizer: finest, start: start, expected: bytes, reason: start <= now ? .refinement : .lastSecond)
        }

        var quantizer = finest
        if pace == .sustained, macroblocks >= Preference.largeShare { quantizer = max(finest, Preference.motionFloor) }
        var wish = offer(quantizer, kind, expectation, macroblocks, free, now)
        while quantizer < Quantizer.coarsest, !isWorthwhile(wish, pace, free) {
            quantizer += 1
            wish = offer(quantizer, kind, expectation, macroblocks, free, now)
        }
        guard kind == .change, pace == .sustained, let last = motion.quantizer(macroblocks, now) else { return wish }
        let steadied = Preference.steady(wish.quantizer, after: last)
        if steadied == wish.quantizer { return wish }
        let held = offer(max(steadied, finest), kind, expectation, macroblocks, free, now)
        // Twice as much as it should take: this is another scene, and worth a jump.
        if steadied < wish.quantizer, occupies(held, free) > limit(held, pace) * 2 { return wish }
        return held
    }

    /// A picture at `quantizer`, as soon as there is room for it.
    private func offer(
        _ quantizer: Int, _ kind: PictureKind, _ expectation: SizeExpectation, _ macroblocks: Int, _ free: MonotonicTime,
        _ now: MonotonicTime
    ) -> Wish {
        let expected = expectation.usual(macroblocks, quantizer)
        var wish = Wish(
            quantizer: quantizer, start: free, expected: expected, reason: free > now ? .debt : .preference)
        // Without an IDR nobody sees anything; all that come after it pay for it.
        if kind == .idr { return wish }
        let most = lineTime(expectation.most(macroblocks, quantizer))
        let windowFree = lastSecond.free(for: most, now)
        if windowFree > free {
            wish.start = windowFree
            wish.reason = .lastSecond
        }
        return wish
    }

    /// How long the picture keeps the line from the next one, waiting included.
    private func occupies(_ wish: Wish, _ free: MonotonicTime) -> Interval {
        lineTime(wish.expected) + (wish.start - free)
    }

    private func limit(_ wish: Wish, _ pace: MotionHistory.Pace) -> Interval {
        Preference.limit(wish.quantizer, pace, period: period)
    }

    private func isWorthwhile(_ wish: Wish, _ pace: MotionHistory.Pace, _ free: MonotonicTime) -> Bool {
        occupies(wish, free) <= limit(wish, pace)
    }
}
