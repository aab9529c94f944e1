import MediaTypes

/// Whether a change follows others or comes after a rest, how far apart changes are, and how finely the last ones were
/// coded.
struct ChangePace: Sendable {
    /// When the first change came that is in no picture yet. Time that a picture waits is thus no rest.
    private var changedSince: MonotonicTime?
    /// When the picture that is being taken started, and when the last one of a change did.
    private var started = MonotonicTime.zero
    private var lastChange: MonotonicTime?
    /// The last distances from a picture to the next change.
    private var intervals: [Interval] = []
    /// The finest quantizer that a picture of this motion may have.
    private(set) var finestQuantizer: Int?

    /// A motion is over after this long without a change.
    private static let rest = Interval.milliseconds(250)
    /// The number of intervals that are looked at: a film on a busy machine has single short ones, which don't count.
    private static let intervalCount = 4

    /// Notes that something has changed at `now` at the latest; returns the time of the first such change.
    mutating func noticeChange(_ now: MonotonicTime) -> MonotonicTime {
        started = now
        let since = changedSince ?? now
        changedSince = since
        return since
    }

    /// Whether the change that is due is the first one after a rest.
    var isFirst: Bool {
        guard let lastChange else { return true }
        return (changedSince ?? lastChange) - lastChange >= Self.rest
    }

    /// Whether nothing has changed at `now` for so long that a motion is over.
    func isResting(_ now: MonotonicTime) -> Bool { lastChange.map { now - $0 >= Self.rest } ?? true }

    /// The second shortest of the last intervals between changes, to the one that is due; nil after a rest.
    var usualInterval: Interval? {
        guard !intervals.isEmpty, let lastChange, let changedSince else { return nil }
        return (intervals + [changedSince - lastChange]).sorted()[1]
    }

    mutating func coded(_ decision: RateController.Decision, quantizer: Int) {
        defer { changedSince = nil }
        guard decision.kind == .change else {
            // The first picture after it is predicted from it.
            finestQuantizer = finestQuantizer.map { max($0, quantizer - PictureBudget.finerStep) }
            return
        }
        if isFirst {
            intervals.removeAll(keepingCapacity: true)
            finestQuantizer = nil
        } else if let lastChange, let changedSince {
            if intervals.count == Self.intervalCount { intervals.removeFirst() }
            intervals.append(changedSince - lastChange)
        }
        lastChange = started
        let last = decision.isSafe ? finestQuantizer : quantizer
        finestQuantizer = last.map { $0 - PictureBudget.finerStep }
    }

    mutating func forgetQuantizer() { finestQuantizer = nil }
}
