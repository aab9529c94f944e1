import MediaTypes

/// Tracks whether changes follow each other or come after a rest.
///
/// Each size of change has its own history, so that typing on an otherwise still screen doesn't make the next page part
/// of a motion.
struct MotionHistory: Sendable {
    /// How a change relates to those before it.
    enum Pace: Sendable {
        /// The first change after a rest.
        case burst
        /// One of many changes in a row.
        case sustained
        /// One of many changes of an area that hasn't shown anything else for a while: a video.
        case video
    }

    /// A class of pictures in which a macroblock costs about the same.
    enum Extent: Int, Sendable, CaseIterable {
        /// A few characters, a cursor.
        case small
        /// A line of text, a button, a part of a window.
        case medium
        /// A window, the screen.
        case large

        init(_ macroblocks: Int) {
            self = macroblocks <= 64 ? .small : macroblocks < QualityTradeoff.largeShare ? .medium : .large
        }
    }

    private struct Trace {
        var busyUntil: MonotonicTime?
        var quantizer: Int?
        var isBurst = false
        /// Whether its last picture was mostly the one before, moved.
        var isMoved = false
    }

    /// A motion is over after this long without a change.
    static let rest = Interval.milliseconds(250)

    /// The longest gap between two pictures of a flowing motion. Pictures this close are predicted well from one
    /// another; after a longer gap, a picture finds little of what it shows in the one before.
    static let flowGap = Interval.milliseconds(90)

    /// The time at which a large change or a key frame was last coded.
    private(set) var lastWhole: MonotonicTime?
    /// Whether the picture coded at `lastWhole` was a key frame. Nothing has changed since then, and the first
    /// change is treated as part of a motion.
    private(set) var isAfterKeyFrame = false
    private var small = Trace()
    private var medium = Trace()
    private var large = Trace()

    /// How a picture requested at `now` relates to earlier changes. Changes of its own size or larger count as motion,
    /// smaller ones don't.
    func pace(_ kind: PictureKind, _ macroblocks: Int, _ now: MonotonicTime) -> Pace {
        switch kind {
        case .keyFrame: return .burst
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

    /// Whether a picture requested at `now` continues a large motion: the motion's last picture was coded just before,
    /// or the motion paused briefly, until `changedSince`.
    func isFlow(_ kind: PictureKind, _ macroblocks: Int, changedSince: MonotonicTime, _ now: MonotonicTime) -> Bool {
        guard kind == .change, Extent(macroblocks) == .large, let lastLarge = lastWhole else { return false }
        if isAfterKeyFrame { return now - changedSince <= Self.flowGap / 2 }
        if now - lastLarge <= Self.flowGap { return true }
        // Nothing moved during the pause, so the last picture still predicts this one, however old it is.
        return changedSince - lastLarge <= Self.rest && now - changedSince <= Self.flowGap / 2
    }

    /// Whether a picture requested at `now` follows one of its extent that was mostly moved, as in a scroll.
    func isMoving(_ macroblocks: Int, _ now: MonotonicTime) -> Bool {
        let trace = trace(Extent(macroblocks))
        guard trace.isMoved, let busyUntil = trace.busyUntil else { return false }
        return now - busyUntil <= Self.rest
    }

    /// Limits `quantizer` to the step that the last picture of this motion and extent allows.
    func steady(_ quantizer: Int, _ macroblocks: Int, _ now: MonotonicTime) -> Int {
        let trace = trace(Extent(macroblocks))
        guard let busyUntil = trace.busyUntil, now - busyUntil <= Self.rest, let last = trace.quantizer else {
            return quantizer
        }
        if trace.isBurst { return QualityTradeoff.steady(quantizer, afterBurst: last) }
        return QualityTradeoff.steady(quantizer, after: last)
    }

    /// Notes that a change is held back until `time`. Until then it counts as a change that is still going on;
    /// otherwise, a motion whose pictures are held back would look like a rest.
    mutating func isHeld(until time: MonotonicTime, _ macroblocks: Int) {
        let extent = Extent(macroblocks)
        var trace = trace(extent)
        // The first picture of a motion still counts as the first one after it has waited.
        guard let busyUntil = trace.busyUntil, time - busyUntil <= RateController.patience + Self.rest else { return }
        trace.busyUntil = max(busyUntil, time)
        set(trace, extent)
    }

    mutating func coded(
        _ kind: PictureKind, _ macroblocks: Int, quantizer: Int, isMoved: Bool, _ now: MonotonicTime
    ) {
        if kind == .keyFrame {
            lastWhole = now
            isAfterKeyFrame = true
        }
        guard kind == .change else { return }
        let extent = Extent(macroblocks)
        let isBurst = pace(kind, macroblocks, now) == .burst
        if extent == .large {
            lastWhole = now
            isAfterKeyFrame = false
        }
        set(Trace(busyUntil: now, quantizer: quantizer, isBurst: isBurst, isMoved: isMoved), extent)
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
