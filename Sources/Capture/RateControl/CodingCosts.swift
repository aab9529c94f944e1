import MediaTypes

/// What a macroblock costs, for each sort of picture: learned from the pictures that were coded.
///
/// A cost is the bytes of a macroblock and the quantizer at which it was seen. After each picture it becomes the
/// geometric mean of the old cost and the one observed. It thus follows a change of scene by the factor 5 within three
/// to five pictures, in both directions, and nothing has to be recognised as a film, a scroll or a log.
struct CodingCosts: Sendable {
    /// The sorts of pictures; the raw values are indices.
    enum Sort: Int, Sendable {
        case keyFrame
        /// The first change after a rest.
        case first
        /// A change that follows another one.
        case change
        /// What is left to code of a picture that is mostly the previous one, moved.
        case restOfMoved
        case refinement
    }

    /// The logarithms (base 2) of bytes, and of the factor by which a coarser quantizer makes them fewer.
    private struct Cost: Sendable {
        var quantizer = 28
        var bytes: Double
        var slope = Self.usualSlope
        /// What the last picture that said much had at `quantizer`.
        var seen: Double?

        /// The slope until it is learned: 7 % a step. Measured: a page of text 3.6 % up to QP 28 and 5 % beyond it; a
        /// film, whose still parts cost nothing in a picture that is coarser than the one before, 20 % and more.
        static let usualSlope = 0.1
        private static let slopes = 0.055...0.5

        init(bytesAt28: Double) { bytes = CodingCosts.logarithm(bytesAt28) }

        func bytes(at quantizer: Int) -> Double {
            min(CodingCosts.power(bytes - slope * Double(quantizer - self.quantizer)), CodingCosts.bounds.upperBound)
        }

        mutating func learn(_ each: Double, at quantizer: Int, weight: Double, risesAtOnce: Bool) {
            let new = CodingCosts.logarithm(each)
            let steps = Double(quantizer - self.quantizer)
            if let seen, steps != 0, weight > 0.25 {
                let observed = min(max((seen - new) / steps, Self.slopes.lowerBound), Self.slopes.upperBound)
                slope += (observed - slope) * abs(steps) / (abs(steps) + 4)
            }
            let known = bytes - slope * steps
            bytes = known + (new - known) * (risesAtOnce && new > known ? 1 : weight)
            self.quantizer = quantizer
            seen = new
        }
    }

    /// The bytes of a picture that codes nothing: headers, skip runs, framing.
    private static let overhead: Double = 40
    /// A picture of so many macroblocks counts half as much as a large one, because a cursor or a word says little
    /// about a page.
    private static let halfWeight = 64.0
    /// What a macroblock is taken to cost at least and at most. An empty picture says nothing about the next one; and
    /// no encoder makes more of 256 pixels.
    private static let bounds = 0.25...4_096
    /// What refinement of a macroblock to QP 14 is taken to cost at least: that of text.
    private static let leastOfRefinement = 27.0

    /// The costs by the index of their sort. The first estimates are from pictures of text at 1920x1080.
    private var costs = [20, 14, 10, 20, 11].map { Cost(bytesAt28: $0) }

    /// The bytes that a picture of `sort` with so many macroblocks to code is expected to have.
    func expected(_ sort: Sort, _ macroblocks: Int, _ quantizer: Int) -> Double {
        Self.overhead + Double(max(macroblocks, 0)) * costs[sort.rawValue].bytes(at: quantizer)
    }

    /// Learns that a picture of `sort` with so many macroblocks had `bytes` at `quantizer`.
    mutating func learn(_ sort: Sort, macroblocks: Int, quantizer: Int, bytes: Double) {
        let macroblocks = Double(max(macroblocks, 1))
        let each = min(max((bytes - Self.overhead) / macroblocks, Self.bounds.lowerBound), Self.bounds.upperBound)
        costs[sort.rawValue].learn(
            each, at: quantizer, weight: macroblocks / (macroblocks + Self.halfWeight) / 2,
            risesAtOnce: sort == .refinement)
        // A page without prediction costs about as much as one after a rest.
        let first = Sort.first.rawValue
        if sort == .keyFrame, costs[first].seen == nil {
            (costs[first].bytes, costs[first].quantizer) = (costs[sort.rawValue].bytes, quantizer)
        }
    }

    /// How many macroblocks can be refined to `quantizer` in so many bytes, without holding up a change that comes
    /// meanwhile: what was coded coarsely last may be what is refined.
    func refinable(in bytes: Double, quantizer: Int) -> Int {
        var last = costs[Sort.change.rawValue]
        last.slope = Cost.usualSlope
        let each = max(
            costs[Sort.refinement.rawValue].bytes(at: quantizer), last.bytes(at: quantizer), Self.leastOfRefinement)
        return Int(min((bytes - Self.overhead) / each, 1e9))
    }

    /// How many quantizers coarser another scene has to be to have 1 / `factor` of the bytes.
    func steps(toDivideBy factor: Double) -> Int { Int((Self.logarithm(factor) / Cost.usualSlope).rounded(.up)) }

    /// An approximation of the logarithm, whose inverse is `power` exactly: linear between powers of two.
    private static func logarithm(_ value: Double) -> Double { Double(value.exponent) + value.significand - 1 }

    private static func power(_ logarithm: Double) -> Double {
        let whole = min(max(logarithm, -60), 60).rounded(.down)
        return Double(sign: .plus, exponent: Int(whole), significand: min(max(1 + logarithm - whole, 1), 2))
    }
}
