import MediaTypes

/// When each macroblock last changed, and since when it has kept changing.
///
/// Times are milliseconds of the monotonic clock, modulo 2^32, which is 49 days.
struct ChangeTimes: Sendable {
    /// When each macroblock last changed.
    private var changes: [UInt32]
    /// Since when each macroblock has kept changing; its last change if that was after a rest.
    private var busySince: [UInt32]
    /// When something was last coded; no time in `changes` is later than this.
    private var latest = MonotonicTime.zero

    /// A macroblock that has kept changing for this long, without a pause, shows a video. A dragged window or a flicked
    /// page doesn't stay in one place for as long.
    private static let videoBegins: UInt32 = 1_000
    /// The longest time between two changes of a video; a cursor blinks more slowly.
    private static let pause: UInt32 = 400

    /// The times of `count` macroblocks that have not changed yet.
    init(count: Int) {
        changes = [UInt32](repeating: 0, count: count)
        busySince = changes
    }

    /// The time `now`, which no change is later than.
    func time(_ now: MonotonicTime) -> UInt32 { Self.milliseconds(max(now, latest)) }

    /// Returns the time `now`, at which something is coded.
    mutating func advance(to now: MonotonicTime) -> UInt32 {
        latest = max(latest, now)
        return Self.milliseconds(latest)
    }

    /// Records that a macroblock changes.
    mutating func change(_ index: Int, at time: UInt32) {
        if time &- changes[index] > Self.pause { busySince[index] = time }
        changes[index] = time
    }

    /// Records that a macroblock changes with others as a whole, which is a page or a window, not a video.
    mutating func changeAsAWhole(_ index: Int, at time: UInt32) {
        changes[index] = time
        busySince[index] = time
    }

    /// Whether a macroblock hasn't changed for long enough to be refined.
    func isSettled(_ index: Int, _ time: UInt32) -> Bool {
        time &- changes[index] >= UInt32(QPMap.settling.milliseconds)
    }

    func isVideo(_ index: Int, _ time: UInt32) -> Bool {
        time &- changes[index] <= Self.pause && time &- busySince[index] >= Self.videoBegins
    }

    /// When the first of the macroblocks for which `isMeant` returns true is settled; this may be in the past.
    func firstSettled(where isMeant: (Int) -> Bool) -> MonotonicTime {
        let time = Self.milliseconds(latest)
        var longest: UInt32 = 0
        for index in 0..<changes.count where isMeant(index) { longest = max(longest, time &- changes[index]) }
        let settled = MonotonicTime(nanoseconds: latest.nanoseconds / 1_000_000 * 1_000_000)
        return settled + QPMap.settling - .milliseconds(Int64(longest))
    }

    private static func milliseconds(_ time: MonotonicTime) -> UInt32 {
        UInt32(truncatingIfNeeded: time.nanoseconds / 1_000_000)
    }
}
