package import MediaTypes

/// Puts the times of a source's pictures and of its sound on our clock by one offset, so that they stay in step.
///
/// What took the shortest way tells the offset: the least difference between an arrival and a time among all that came
/// in the last 10 to 20 s. Of sound, that is the time of its end, since it can't be sent before. Nothing waits for
/// that, and no picture is placed later than it came. The offset follows a clock that runs faster or slower than ours,
/// and a shorter way at once. A value without I/O; the time is an argument.
package struct SourceClock {
    /// How far sound may get away from the offset before its place is corrected, which is heard as a short break: with
    /// a clock 100 ppm off, in 200 s. Until then its packets keep their distances exactly.
    private static let soundTolerance = Interval.milliseconds(20)
    private static let window = Interval.seconds(10)
    /// A source whose times go back by more than this has started again; pictures may be sent in another order than
    /// shown.
    private static let maxStepBack = Interval.seconds(1)
    /// A source whose data seems to have been on its way for longer than this has started again too.
    private static let maxWay = Interval.seconds(10)

    /// The least difference in the last whole window, and in this one; nil before the first time.
    private var last: Interval?
    private var least: Interval?
    private var windowEnd = MonotonicTime.zero
    /// What is added to the times of sound; nil before the first.
    private var soundOffset: Interval?
    /// The latest times so far.
    private var newestPicture: Interval?
    private var newestSound: Interval?

    /// A clock that has seen nothing.
    package init() {}

    /// When a picture was captured that is to be shown at `time` on the source's clock, and came at `arrival`.
    package mutating func place(picture time: Interval, arrival: MonotonicTime) -> MonotonicTime {
        if let newestPicture, newestPicture - time > Self.maxStepBack { beginAnew() }
        newestPicture = max(newestPicture ?? time, time)
        let stamp = MonotonicTime(nanoseconds: time.nanoseconds)
        return stamp + observe(arrival - stamp, arrival)
    }

    /// When sound was captured that is to be heard from `time` until `end` on the source's clock, and came at
    /// `arrival`.
    package mutating func place(sound time: Interval, until end: Interval, arrival: MonotonicTime) -> MonotonicTime {
        if let newestSound, newestSound - time > Self.maxStepBack { beginAnew() }
        newestSound = max(newestSound ?? time, time)
        let offset = observe(arrival - MonotonicTime(nanoseconds: end.nanoseconds), arrival)
        let kept = soundOffset ?? offset
        let isKept = (offset - kept).nanoseconds.magnitude <= Self.soundTolerance.nanoseconds.magnitude
        soundOffset = isKept ? kept : offset
        return MonotonicTime(nanoseconds: time.nanoseconds) + (isKept ? kept : offset)
    }

    /// Takes the difference between an arrival and a time, and returns the offset.
    private mutating func observe(_ difference: Interval, _ arrival: MonotonicTime) -> Interval {
        if let known = offset, difference - known > Self.maxWay { beginAnew() }
        if arrival >= windowEnd {
            (last, least) = (least, difference)
            windowEnd = arrival + Self.window
        }
        least = min(least ?? difference, difference)
        return offset ?? difference
    }

    private mutating func beginAnew() {
        (last, least) = (nil, nil)
        (newestPicture, newestSound) = (nil, nil)
    }

    private var offset: Interval? {
        guard let least else { return last }
        return min(last ?? least, least)
    }
}
