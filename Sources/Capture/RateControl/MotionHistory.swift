import MediaTypes

/// Whether changes come one after the other or after a rest, for each size of change: somebody who types while nothing
/// else happens doesn't make the next page a part of a motion.
struct MotionHistory: Sendable {
    /// How a change comes.
    enum Pace: Sendable {
        /// The first after a rest.
        case burst
        /// One of many.
        case sustained
    }

    /// Pictures that are alike in what a macroblock costs.
    enum Extent: Int, Sendable, CaseIterable {
        /// A few characters, a cursor.
        case small
        /// A line of text, a button, a part of a window.
        case medium
        /// A window, the screen.
        case large

        init(_ macroblocks: Int) {
            self = macroblocks <= 64 ? .small : macroblocks < Preference.largeShare ? .medium : .large
        }
    }

    private struct Trace {
        var busyUntil: MonotonicTime?
        var quantizer: Int?
        var isBurst = false
    }

    /// After so long without a change a motion is over.
    static let rest = Interval.milliseconds(250)

    /// Pictures of a motion that come so close on each other are predicted well from one another; a picture after a longer
    /// gap finds little of what it shows in the one before.
    static let flowGap = Interval.milliseconds(90)

    /// When a large change or an IDR picture was coded last.
    private(set) var lastWhole: MonotonicTime?
    /// That was an IDR picture: nothing has changed since, and what changes first is like a part of a motion.
    private(set) var isAfterIDR = false
    private var small = Trace()
    private var medium = Trace()
    private var large = Trace()

    /// How a picture comes that is wanted at `now`; larger changes before it count as motion, smaller ones don't.
    func pace(_ kind: PictureKind, _ macroblocks: Int, _ now: MonotonicTime) -> Pace {
        switch kind {
        case .idr: return .burst
        case .refinement: return .sustained
        case .change:
            var busyUntil = large.busyUntil
            let extent = Extent(macroblocks)
            if extent != .large { busyUntil = Self.later(busyUntil, medium.busyUntil) }
            if extent == .small { busyUntil = Self.later(busyUntil, small.busyUntil) }
            guard let busyUntil else { return .burst }
            return now - busyUntil <= Self.rest ? .sustained : .burst
        }
    }

    /// Whether a picture that is wanted at `now` goes on with a large motion of which the last picture has just been coded,
    /// or that had stopped for a moment until `changedSince`.
    func isFlow(_ kind: PictureKind, _ macroblocks: Int, changedSince: MonotonicTime, _ now: MonotonicTime) -> Bool {
        guard kind == .change, Extent(macroblocks) == .large, let lastLarge = lastWhole else { return false }
        if isAfterIDR { return now - changedSince <= Self.flowGap / 2 }
        if now - lastLarge <= Self.flowGap { return true }
        // Nothing has moved meanwhile: how long ago it was doesn't matter.
        return changedSince - lastLarge <= Self.rest && now - changedSince <= Self.flowGap / 2
    }

    /// `quantizer` made steady: as the last picture of this motion and extent allows.
    func steady(_ quantizer: Int, _ macroblocks: Int, _ now: MonotonicTime) -> Int {
        let trace = trace(Extent(macroblocks))
        guard let busyUntil = trace.busyUntil, now - busyUntil <= Self.rest, let last = trace.quantizer else {
            return quantizer
        }
        if trace.isBurst { return Preference.steady(quantizer, afterBurst: last) }
        return Preference.steady(quantizer, after: last)
    }

    /// A change waits: it is as good as seen until then, or a motion that is held back would look like rest.
    mutating func isHeld(until time: MonotonicTime, _ macroblocks: Int) {
        let extent = Extent(macroblocks)
        var trace = trace(extent)
        // A first picture that waits stays a first picture.
        guard let busyUntil = trace.busyUntil, time - busyUntil <= RateController.patience + Self.rest else { return }
        trace.busyUntil = max(busyUntil, time)
        set(trace, extent)
    }

    mutating func coded(_ kind: PictureKind, _ macroblocks: Int, quantizer: Int, _ now: MonotonicTime) {
        if kind == .idr {
            lastWhole = now
            isAfterIDR = true
        }
        guard kind == .change else { return }
        let extent = Extent(macroblocks)
        let isBurst = pace(kind, macroblocks, now) == .burst
        if extent == .large {
            lastWhole = now
            isAfterIDR = false
        }
        set(Trace(busyUntil: now, quantizer: quantizer, isBurst: isBurst), extent)
    }

    mutating func forgetQuantizers() {
        small.quantizer = nil
        medium.quantizer = nil
        large.quantizer = nil
    }

    private static func later(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }

    private func trace(_ extent: Extent) -> Trace {
        switch extent {
        case .small: small
        case .medium: medium
        case .large: large
        }
    }

    private mutating func set(_ trace: Trace, _ extent: Extent) {
        switch extent {
        case .small: small = trace
        case .medium: medium = trace
        case .large: large = trace
        }
    }
}
