/// The cost of a macroblock for each class of pictures, learned from the coded pictures.
///
/// A cost is the bytes of a macroblock, the quantizer at which they were seen, and the picture's difference from the
/// previous one. After each picture, the cost becomes the geometric mean of the old and the observed cost, weighted by
/// their macroblocks. The cost thus follows a change of scene by the factor 5 within three to five pictures, in both
/// directions, and nothing has to be recognised as a film, a scroll or a log.
struct CodingCosts: Sendable {
    /// The classes of pictures; the raw values are indices.
    enum PictureClass: Int, Sendable {
        case keyFrame
        /// The first change after a rest.
        case first
        /// A change that follows another one.
        case change
        /// The rest of a picture that is mostly the previous one, moved.
        case restOfMoved
        case refinement
    }

    /// Bytes and differences are logarithms (base 2), and so is the slope: the factor by which each coarser quantizer
    /// divides the bytes.
    private struct Cost: Sendable {
        var qp = 28
        var bytes: Double
        var difference: Double?
        /// Roughly the number of macroblocks that the cost was seen at.
        var macroblocks = 0.0
        var slope = CodingCosts.usualSlope
        /// The bytes of a macroblock in the last picture, at `qp`.
        var seen: Double?

        /// The logarithm of the factor for the bytes if the picture shows another scene, that is, differs far more from
        /// the previous one than usual; otherwise 0.
        func cut(_ difference: Double?) -> Double {
            guard let difference, let usual = self.difference else { return 0 }
            return difference - usual > CodingCosts.cut ? difference - usual : 0
        }

        func bytes(at qp: Int) -> Double { bytes - slope * Double(qp - self.qp) }

        /// Moves a sixteenth of the way to `estimate`, after a picture that revealed nothing about this cost.
        mutating func fade(to estimate: Cost) {
            bytes += (estimate.bytes(at: qp) - bytes) / (CodingCosts.caution * CodingCosts.caution)
        }

        mutating func update(_ new: Double, _ macroblocks: Double, at qp: Int, _ difference: Double?) {
            // A clock says little about the film beside it.
            let weight = macroblocks / (macroblocks + self.macroblocks)
            let new = new - cut(difference)
            let steps = Double(qp - self.qp)
            if let seen, steps != 0 {
                let slopes = CodingCosts.slopes
                slope += (min(max((seen - new) / steps, slopes.lowerBound), slopes.upperBound) - slope) * weight / 2
            }
            let known = bytes(at: qp)
            bytes = known + (new - known) * weight
            self.macroblocks = (self.macroblocks + macroblocks) / 2
            self.qp = qp
            if let difference { self.difference = ((self.difference ?? difference) + difference) / 2 }
            seen = new
        }
    }

    /// The slope until it is learned, 5 % a step, and its bounds: a page of text has 3.6 % up to QP 28 and 5 % beyond
    /// it; a film, whose still parts cost nothing in a picture that is coarser than the one before, 20 % and more.
    private static let usualSlope = 0.07
    private static let slopes = 0.055...0.5
    /// A picture shows another scene if it differs more than three times as much from the one before as usual.
    private static let cut = 1.5
    /// What isn't certain counts a fourth: a picture that is finer than usual has to fit several times over.
    static let caution = 4.0
    /// The bytes of a macroblock at QP 28, by the index of the class, until they are learned: pictures of text.
    private static let estimates = [36.0, 14, 10, 20, 11]

    private var costs = Self.estimates.map { Cost(bytes: Self.logarithm($0)) }

    /// The expected bytes of a picture of this class with so many macroblocks to code, which differ from the previous
    /// picture by `difference`.
    func expected(_ kind: PictureClass, _ macroblocks: Int, _ difference: Double? = nil, at qp: Int) -> Double {
        let cost = costs[kind.rawValue]
        let each = cost.bytes(at: qp) + cost.cut(difference.map(Self.logarithm))
        return Double(max(macroblocks, 0)) * Self.power(each)
    }

    /// Learns that a picture of this class with so many macroblocks had `bytes` at `qp`.
    mutating func update(_ kind: PictureClass, _ macroblocks: Int, _ difference: Double?, at qp: Int, bytes: Double) {
        let macroblocks = Double(max(macroblocks, 1))
        let new = Self.logarithm(max(bytes, 1) / macroblocks)
        // Refinement must not hold up a change, so it is assumed to cost at least as much as text.
        let text = Cost(bytes: Self.logarithm(Self.estimates[kind.rawValue])).bytes(at: qp)
        costs[kind.rawValue].update(
            kind == .refinement ? max(new, text) : new, macroblocks, at: qp, difference.map(Self.logarithm))
        // Meanwhile, the cost of a change that isn't moved is unseen. A few expensive ones would keep x264 from all
        // later ones.
        let change = PictureClass.change.rawValue
        if kind == .restOfMoved { costs[change].fade(to: Cost(bytes: Self.logarithm(Self.estimates[change]))) }
        // A page without prediction costs about as much as one after a rest.
        let first = PictureClass.first.rawValue
        if kind == .keyFrame, costs[first].seen == nil {
            costs[first] = costs[kind.rawValue]
            costs[first].seen = nil
        }
    }

    /// How many quantizers coarser another scene has to be to have 1 / `factor` of the bytes.
    static func steps(toDivideBy factor: Double) -> Int { Int((logarithm(factor) / usualSlope).rounded(.up)) }

    /// An approximation of the logarithm, whose inverse is `power` exactly: linear between powers of two.
    private static func logarithm(_ value: Double) -> Double { Double(value.exponent) + value.significand - 1 }

    static func power(_ logarithm: Double) -> Double {
        let whole = min(max(logarithm, -60), 60).rounded(.down)
        return Double(sign: .plus, exponent: Int(whole), significand: min(max(1 + logarithm - whole, 1), 2))
    }
}
