import MediaTypes

extension RateController {
    /// How to code a picture, and its expected size.
    public struct Decision: Sendable {
        /// Whether the picture is a key frame, a change of the screen or a refinement.
        public let kind: PictureKind
        /// The number of macroblocks left to code.
        public internal(set) var macroblocks: Int
        /// The quantizer, 0...51.
        public internal(set) var qp: Int
        let pictureClass: CodingCosts.PictureClass
        /// The mean difference of the macroblocks from the previous picture; nil if unknown.
        var difference: Double?
        /// The expected size in bytes; nil if there is no estimate.
        var expected: Double?
        /// How long a picture of a motion may occupy the link; nil for any other.
        var budget: Interval?
        /// Whether most of the change is left to the next picture; nothing is learned from this one then.
        var isApart = false
        /// The link time of earlier bytes that the link had not carried yet.
        var debt = Interval.zero
    }

    /// What happened last, kept as plain values: the text is built only on demand.
    enum Event: Sendable, CustomStringConvertible {
        case nothing
        case waited(PictureKind, until: MonotonicTime, debt: Interval)
        case coded(Decision, qp: Int, byteCount: Int)

        var description: String {
            switch self {
            case .nothing: return "no picture yet"
            case .waited(let kind, let until, let debt):
                return
                    "\(kind.rawValue): wait until \(until.nanoseconds / 1_000_000) ms, debt \(debt.milliseconds) ms"
            case .coded(let decision, let qp, let byteCount):
                var text = "\(decision.kind.rawValue), \(decision.macroblocks) macroblocks (\(decision.pictureClass)): "
                text += "QP \(decision.qp)"
                if qp != decision.qp { text += " raised to \(qp)" }
                if let expected = decision.expected { text += ", expected \(Int(min(expected, 1e15))) bytes" }
                text += ", got \(byteCount)"
                if let budget = decision.budget { text += ", budget \(budget.milliseconds) ms" }
                return text + ", debt \(decision.debt.milliseconds) ms"
            }
        }
    }
}
