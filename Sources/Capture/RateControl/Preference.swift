import MediaTypes

/// Quantizers of H.264 with 8 bits a sample (ITU-T H.264 section 7.4.2.1.1): 0...51, coarser upwards; about 12 % of the
/// step size each.
enum Quantizer {
    static let coarsest = 51
}

/// What is liked better: a coarser picture, or one that takes longer?
///
/// Text is good up to a quantizer of about 28, readable to 32, and mush from 36. So the longer a picture would occupy the
/// line at a fine quantizer the coarser it may be, but the frame rate falls first.
enum Preference {
    /// From this many macroblocks on (an eighth of a 1920x1080 screen) a moving picture finer than `motionFloor` shows
    /// nothing more.
    static let largeShare = 1020
    static let motionFloor = 20
    /// What comes coarser than this because it had to wait too long doesn't count for the next one.
    static let coarsestMeasure = 40

    /// A row: at this quantizer a picture may occupy the line so long; between the rows it is interpolated.
    private struct Row {
        var quantizer: Int
        var limit: Interval
    }

    /// After a rest: somebody turned a page and wants to see it, sharp rather than at once. Up to half a second, as what
    /// follows soon is late by as much, and refinement makes it sharp when nothing does; but text that can be read.
    private static let burst = [
        Row(quantizer: 14, limit: .milliseconds(30)), Row(quantizer: 20, limit: .milliseconds(150)),
        Row(quantizer: 24, limit: .milliseconds(250)), Row(quantizer: 28, limit: .milliseconds(450)),
        Row(quantizer: 35, limit: .milliseconds(520)), Row(quantizer: 36, limit: .milliseconds(1150)),
        Row(quantizer: 40, limit: .milliseconds(1400)), Row(quantizer: 44, limit: .milliseconds(2000)),
    ]
    /// In motion, for a period of 1/30 s: 30 pictures a second up to QP 22, 5 at QP 32, 2 at QP 40.
    private static let sustained = [
        Row(quantizer: 14, limit: .milliseconds(8)), Row(quantizer: 20, limit: .milliseconds(25)),
        Row(quantizer: 22, limit: .milliseconds(33)), Row(quantizer: 28, limit: .milliseconds(58)),
        Row(quantizer: 32, limit: .milliseconds(200)), Row(quantizer: 36, limit: .milliseconds(300)),
        Row(quantizer: 40, limit: .milliseconds(400)), Row(quantizer: 44, limit: .milliseconds(700)),
    ]
    private static let basisOfRows = Interval.microseconds(33_333)

    /// The period that the limits count in: no watcher sees more than 40 pictures a second, nor bears fewer than ten.
    static func basis(_ period: Interval) -> Interval { min(max(period, .milliseconds(25)), .milliseconds(100)) }

    /// For how long a picture of `quantizer` may occupy the line.
    static func limit(_ quantizer: Int, _ pace: MotionHistory.Pace, period: Interval) -> Interval {
        switch pace {
        case .burst: return interpolated(burst, quantizer)
        case .sustained:
            let limit = interpolated(sustained, quantizer)
            // Beyond the table: whatever it takes.
            if limit >= RateController.longestDebt { return limit }
            return limit * (basis(period).nanoseconds / 1_000) / (basisOfRows.nanoseconds / 1_000)
        }
    }

    /// What the quantizer of one picture may be after `last` in steady motion: a step of 2 at most, and none for one.
    static func steady(_ quantizer: Int, after last: Int) -> Int {
        let step = quantizer - last
        if step > 2 { return last + 2 }
        if step >= 0 { return quantizer }
        if step <= -4 { return last - 2 }
        return step <= -2 ? last - 1 : last
    }

    /// What it may be after the first picture of a motion: not much finer, as that one's cost tells little of the next.
    static func steady(_ quantizer: Int, afterBurst first: Int) -> Int { max(quantizer, first - 2) }

    private static func interpolated(_ rows: [Row], _ quantizer: Int) -> Interval {
        var before: Row?
        for row in rows {
            guard quantizer > row.quantizer else {
                guard let before, quantizer < row.quantizer else { return row.limit }
                let way = Int64(quantizer - before.quantizer)
                return before.limit + (row.limit - before.limit) * way / Int64(row.quantizer - before.quantizer)
            }
            before = row
        }
        // Coarser than the last row: dearer pictures are taken only at the coarsest.
        guard quantizer < Quantizer.coarsest, let before else { return Interval(nanoseconds: .max) }
        return before.limit + before.limit * Int64(quantizer - before.quantizer) / 4
    }
}
