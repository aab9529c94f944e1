import MediaTypes

/// The quantizers of H.264 with 8 bits a sample (ITU-T H.264 section 7.4.2.1.1): 0...51. Higher is coarser; each one up
/// makes the quantizer step size about 12 % larger.
public enum Quantizer {
    public static let coarsest = 51

    static func clamped(_ quantizer: Int) -> Int { min(max(quantizer, 0), coarsest) }
}

/// How long a picture may occupy the link.
///
/// After a rest, somebody has turned a page and wants to see it sharp rather than at once. In motion, a picture may
/// take until the next one comes: a period, or longer where the content changes less often. If the last second left
/// much of the link unused, it may take longer, so that a single large change among small ones is sharp; a film, which
/// uses all of the link, gets no more than its period.
struct PictureBudget {
    /// In motion, what a picture may take; nil for a key frame and after a rest.
    private(set) var motion: Interval?
    private let period: Interval

    /// In motion, text is readable up to this quantizer while it moves. Beyond it, coarser pictures save little, so the
    /// frame rate falls as well: each four quantizers more, a picture may take twice as long.
    private static let coarsestInMotion = 40
    private static let stepsToDouble: Int64 = 4
    /// The part of the last second that has to be unused before it is used for a picture that takes longer, the share
    /// of the rest that a picture gets, and the most of it.
    private static let keptUnused = Interval.milliseconds(300)
    private static let partsOfUnused: Int64 = 3
    private static let mostOfUnused = Interval.milliseconds(120)
    /// A picture of a motion from this many macroblocks on (an eighth of a 1920x1080 screen) gains nothing visible from
    /// a finer quantizer than `motionFloor`.
    static let large = 1020
    static let motionFloor = 20
    /// A picture that fits even if it costs this many times what is expected may be as fine as it likes.
    static let caution = 4.0
    /// The most by which the quantizer falls from one picture of a motion to the next.
    static let finerStep = 2
    /// The longest that a picture of refinement occupies the link, because the next change may come at any time, and
    /// the fewest macroblocks that are worth one.
    static let refinement = Interval.milliseconds(100)
    static let fewestRefined = 32

    /// How long a page may take after a rest, by its quantizer. More than about half a second would delay whatever
    /// follows by as much; and if nothing follows, refinement sharpens it. From QP 36 on, it takes longer instead of
    /// becoming coarser, so that text can be read. Values between rows are interpolated.
    private static let page: [(quantizer: Int, limit: Interval)] = [
        (14, .milliseconds(30)), (20, .milliseconds(150)), (24, .milliseconds(250)), (28, .milliseconds(450)),
        (35, .milliseconds(520)), (36, .milliseconds(1150)), (40, .milliseconds(1400)), (44, .milliseconds(2000)),
    ]

    /// The budget of a key frame, and of the first change after a rest.
    init(period: Interval) {
        self.period = Self.basis(period)
    }

    /// Makes it the budget of a motion in which changes are usually `usualInterval` apart, if that is known.
    mutating func setMotion(usualInterval: Interval?, unused: Interval, debt: Interval) {
        let spare = max(.zero, unused - Self.keptUnused) / Self.partsOfUnused
        let own = min(max(usualInterval ?? .zero, period), Self.basis(.seconds(1)))
        // What earlier pictures took too much is paid back bit by bit.
        motion = max(max(own, period + min(spare, Self.mostOfUnused)) - debt / 4, period / 2)
    }

    /// How long a picture of `quantizer` may occupy the link.
    func limit(_ quantizer: Int) -> Interval {
        guard let motion else { return Self.pageLimit(quantizer) }
        let beyond = Int64(max(0, quantizer - Self.coarsestInMotion))
        let doubled = period * (1 << (beyond / Self.stepsToDouble))
        return beyond == 0
            ? motion : max(motion, doubled + doubled * (beyond % Self.stepsToDouble) / Self.stepsToDouble)
    }

    /// The period that limits depend on: no viewer sees more than 40 pictures a second or tolerates fewer than ten.
    static func basis(_ period: Interval) -> Interval { min(max(period, .milliseconds(25)), .milliseconds(100)) }

    private static func pageLimit(_ quantizer: Int) -> Interval {
        guard let after = page.firstIndex(where: { quantizer <= $0.quantizer }) else { return .seconds(2) }
        let (upper, limit) = page[after]
        guard after > 0, quantizer < upper else { return limit }
        let (lower, from) = page[after - 1]
        return from + (limit - from) * Int64(quantizer - lower) / Int64(upper - lower)
    }
}
