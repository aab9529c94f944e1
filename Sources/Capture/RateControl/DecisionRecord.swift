import MediaTypes

/// The rate controller's last decision and its reason, kept as plain values: the text is built only on demand.
struct DecisionRecord: Sendable, CustomStringConvertible {
    /// The reason for a decision.
    enum Reason: String, Sendable {
        case constant = "constant quantizer"
        case nothing = "nothing to code"
        case preference = "preference"
        case refinement = "refinement"
        case flow = "flowing"
        case debt = "debt"
        case lastSecond = "the last second is full"
        case patience = "waited long enough"
    }

    private var kind = PictureKind.keyFrame
    private var macroblocks = 0
    private var decision: RateController.Decision?
    private var reason = Reason.nothing
    private var expected: Double?
    private var debt = Interval.zero
    private var actual: Int?

    /// Whether the picture was encoded only because its longest waiting time was over.
    var isEmergency: Bool { reason == .patience }

    mutating func begin(_ kind: PictureKind, _ macroblocks: Int) {
        self.kind = kind
        reason = .nothing
        self.macroblocks = macroblocks
        decision = nil
        expected = nil
        debt = .zero
        actual = nil
    }

    mutating func note(expected: Double, debt: Interval) {
        self.expected = expected
        self.debt = debt
    }

    mutating func note(actual: Int) { self.actual = actual }

    mutating func end(_ decision: RateController.Decision, because reason: Reason) {
        self.decision = decision
        self.reason = reason
    }

    var description: String {
        var text = "\(kind.rawValue), \(macroblocks) macroblocks: "
        switch decision {
        case .encode(let quantizer): text += "QP \(quantizer)"
        case .wait(let until): text += "wait until \(until.nanoseconds / 1_000_000) ms"
        case nil: return "no picture yet"
        }
        if let expected { text += ", expected \(Int(min(expected, 1e15))) bytes" }
        if let actual { text += ", got \(actual)" }
        return text + ", debt \(debt.milliseconds) ms (\(reason.rawValue))"
    }
}
