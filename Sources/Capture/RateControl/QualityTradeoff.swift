import MediaTypes

/// The quantizers of H.264 with 8 bits a sample (ITU-T H.264 section 7.4.2.1.1): 0...51. Higher is coarser; each one up
/// makes the quantizer step size about 12 % larger.
public enum Quantizer {
    public static let coarsest = 51
}

/// The trade-off between a coarser picture and one that takes longer.
///
/// Text is good up to a quantizer of about 28, readable up to 32, and mush from 36 on. So the longer a picture would
/// occupy the link at a fine quantizer, the coarser it may be, but the frame rate falls first.
enum QualityTradeoff {
    /// A picture is large from this many macroblocks on (an eighth of a 1920x1080 screen). In motion, making it finer
    /// than `motionFloor` has no visible effect.
    static let largeShare = 1020
    static let motionFloor = 20
    /// A picture that was coded more coarsely than this, because it had waited too long, counts as this coarse for the
    /// next one.
    static let coarsestMeasure = 40

    /// A row of a table: how long a picture at this quantizer may occupy the link. Values between rows are
    /// interpolated.
    private struct Row {
        var quantizer: Int
        var limit: Interval
    }

    /// Limits after a rest: somebody has turned a page and wants to see it sharp rather than at once. The picture may
    /// take up to about half a second. More would delay whatever follows soon by as much; and if nothing follows,
    /// refinement sharpens the picture. From QP 36 on, it takes longer instead of becoming coarser, so that text can be
    /// read.
    private static let burst = [
        Row(quantizer: 14, limit: .milliseconds(30)), Row(quantizer: 20, limit: .milliseconds(150)),
        Row(quantizer: 24, limit: .milliseconds(250)), Row(quantizer: 28, limit: .milliseconds(450)),
        Row(quantizer: 35, limit: .milliseconds(520)), Row(quantizer: 36, limit: .milliseconds(1150)),
        Row(quantizer: 40, limit: .milliseconds(1400)), Row(quantizer: 44, limit: .milliseconds(2000)),
    ]
    /// Limits in motion, for a period of 1/30 s: 30 pictures a second up to QP 22, 5 at QP 32, 2.5 at QP 40.
    private static let sustained = [
        Row(quantizer: 14, limit: .milliseconds(8)), Row(quantizer: 20, limit: .milliseconds(25)),
        Row(quantizer: 22, limit: .milliseconds(33)), Row(quantizer: 28, limit: .milliseconds(58)),
        Row(quantizer: 32, limit: .milliseconds(200)), Row(quantizer: 36, limit: .milliseconds(300)),
        Row(quantizer: 40, limit: .milliseconds(400)), Row(quantizer: 44, limit: .milliseconds(700)),
    ]
    /// Limits in a video, for a period of 1/30 s: somebody watches it rather than reads it, so it becomes coarser
    /// before its pictures come less often. They take less than a period, so that hardly any has to wait for the one
    /// before. Beyond QP 49, coarser pictures save next to nothing, and the frame rate falls too.
    private static let video = [
        Row(quantizer: 14, limit: .milliseconds(8)), Row(quantizer: 20, limit: .milliseconds(25)),
        Row(quantizer: 24, limit: .milliseconds(30)), Row(quantizer: 42, limit: .milliseconds(32)),
        Row(quantizer: 49, limit: .milliseconds(33)), Row(quantizer: 50, limit: .milliseconds(150)),
    ]
    private static let basisOfRows = Interval.microseconds(33_333)

    /// The period that the limits scale with: no viewer sees more than 40 pictures a second or tolerates fewer than
    /// ten.
    static func basis(_ period: Interval) -> Interval { min(max(period, .milliseconds(25)), .milliseconds(100)) }

    /// How long a picture of `quantizer` may occupy the link.
    static func limit(_ quantizer: Int, _ pace: MotionHistory.Pace, period: Interval) -> Interval {
        switch pace {
        case .burst: return interpolated(burst, quantizer)
        case .sustained, .video:
            let limit = interpolated(pace == .video ? video : sustained, quantizer)
            // Beyond the table, a picture may take as long as it needs.
            if limit >= RateController.longestDebt { return limit }
            return limit * (basis(period).nanoseconds / 1_000) / (basisOfRows.nanoseconds / 1_000)
        }
    }

    /// Limits the quantizer after `last` in steady motion: it changes by 2 at most, more slowly when it becomes finer,
    /// and a picture that could be finer by just one keeps `last`.
    static func steady(_ quantizer: Int, after last: Int) -> Int {
        let step = quantizer - last
        if step > 2 { return last + 2 }
        if step >= 0 { return quantizer }
        if step <= -4 { return last - 2 }
        return step <= -2 ? last - 1 : last
    }

    /// Limits the quantizer after the first picture of a motion: not much finer, because that picture's cost says
    /// little about the next one's.
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
        // Coarser than the last row: the limit grows by a quarter for each step of the quantizer. The coarsest has no
        // limit.
        guard quantizer < Quantizer.coarsest, let before else { return Interval(nanoseconds: .max) }
        return before.limit + before.limit * Int64(quantizer - before.quantizer) / 4
    }
}
