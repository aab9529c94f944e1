import MediaTypes

extension RateController {
    /// How a picture is to be coded, and what is expected of it.
    public struct Decision: Sendable {
        public let kind: PictureKind
        /// The number of macroblocks left to code.
        public internal(set) var macroblocks: Int
        /// The quantizer, 0...51.
        public internal(set) var quantizer: Int
        let sort: CodingCosts.Sort
        /// The expected size in bytes; nil if nothing is expected of it.
        var expected: Double?
        /// How long a picture of a motion may occupy the link; nil for any other.
        var budget: Interval?
        /// Whether the picture fits into its budget even if it costs several times as much as expected.
        var isSafe = false
        /// Whether most of what has changed is in the next picture: nothing is learned from this one.
        var isApart = false
        /// What the link had not carried yet.
        var debt = Interval.zero

        init(kind: PictureKind, macroblocks: Int, quantizer: Int, sort: CodingCosts.Sort) {
            self.kind = kind
            self.macroblocks = macroblocks
            self.quantizer = quantizer
            self.sort = sort
        }
    }
}

/// The last decision and its result, kept as plain values: the text is built only on demand.
struct DecisionRecord: Sendable, CustomStringConvertible {
    private var decision: RateController.Decision?
    private var waits: (kind: PictureKind, until: MonotonicTime, debt: Interval)?
    private var actual: (bytes: Int, quantizer: Int)?

    mutating func wait(_ kind: PictureKind, until: MonotonicTime, debt: Interval) {
        waits = (kind, until, debt)
    }

    mutating func coded(_ decision: RateController.Decision, quantizer: Int, byteCount: Int) {
        self.decision = decision
        waits = nil
        actual = (byteCount, quantizer)
    }

    var description: String {
        if let waits {
            let until = waits.until.nanoseconds / 1_000_000
            return "\(waits.kind.rawValue): wait until \(until) ms, debt \(waits.debt.milliseconds) ms"
        }
        guard let decision else { return "no picture yet" }
        var text = "\(decision.kind.rawValue), \(decision.macroblocks) macroblocks (\(decision.sort)): "
        text += "QP \(decision.quantizer)"
        if let actual, actual.quantizer != decision.quantizer { text += " raised to \(actual.quantizer)" }
        if let expected = decision.expected { text += ", expected \(Int(min(expected, 1e15))) bytes" }
        if let actual { text += ", got \(actual.bytes)" }
        if let budget = decision.budget { text += ", budget \(budget.milliseconds) ms" }
        return text + ", debt \(decision.debt.milliseconds) ms"
    }
}
