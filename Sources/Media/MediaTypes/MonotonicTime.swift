/// A point on the machine's CLOCK_MONOTONIC, in nanoseconds since its origin (boot).
///
/// It is a type of its own so that it can't be mixed up with a media timestamp or with wall-clock time.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's origin.
    public var nanoseconds: Int64

    /// A point `nanoseconds` after the clock's origin.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's origin.
    public static let zero = MonotonicTime(nanoseconds: 0)
    /// A time later than any the clock will show; used as "never" for a deadline.
    public static let distantFuture = MonotonicTime(nanoseconds: .max)

    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The time `interval` later; saturates at the ends of the range.
    public static func + (time: MonotonicTime, interval: Interval) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        if overflow { return MonotonicTime(nanoseconds: interval.nanoseconds > 0 ? .max : .min) }
        return MonotonicTime(nanoseconds: sum)
    }

    /// The time `interval` earlier; saturates at the ends of the range.
    public static func - (time: MonotonicTime, interval: Interval) -> MonotonicTime {
        let (difference, overflow) = time.nanoseconds.subtractingReportingOverflow(interval.nanoseconds)
        if overflow { return MonotonicTime(nanoseconds: interval.nanoseconds > 0 ? .min : .max) }
        return MonotonicTime(nanoseconds: difference)
    }

    /// The time from `right` to `left`; saturates at the ends of the range.
    public static func - (left: MonotonicTime, right: MonotonicTime) -> Interval {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        if overflow { return Interval(nanoseconds: right.nanoseconds > 0 ? .min : .max) }
        return Interval(nanoseconds: difference)
    }
}

/// A length of time in nanoseconds; may be negative.
///
/// 64 bits cover 292 years and, unlike the standard library's 128-bit `Duration`, take only one register.
public struct Interval: Hashable, Comparable, Sendable {
    /// The length in nanoseconds.
    public var nanoseconds: Int64

    /// A length of `nanoseconds`.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// An empty length of time.
    public static let zero = Interval(nanoseconds: 0)

    /// A length of `count` microseconds; saturates on overflow.
    public static func microseconds(_ count: Int64) -> Interval { scaled(count, by: 1_000) }
    /// A length of `count` milliseconds; saturates on overflow.
    public static func milliseconds(_ count: Int64) -> Interval { scaled(count, by: 1_000_000) }
    /// A length of `count` seconds; saturates on overflow.
    public static func seconds(_ count: Int64) -> Interval { scaled(count, by: 1_000_000_000) }

    private static func scaled(_ count: Int64, by factor: Int64) -> Interval {
        let (product, overflow) = count.multipliedReportingOverflow(by: factor)
        if overflow { return Interval(nanoseconds: count > 0 ? .max : .min) }
        return Interval(nanoseconds: product)
    }

    /// The length in whole milliseconds, rounded toward zero.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }
    /// The length in seconds.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    public static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The sum; saturates on overflow.
    public static func + (left: Interval, right: Interval) -> Interval {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.nanoseconds)
        if overflow { return Interval(nanoseconds: right.nanoseconds > 0 ? .max : .min) }
        return Interval(nanoseconds: sum)
    }

    /// The difference; saturates on overflow.
    public static func - (left: Interval, right: Interval) -> Interval {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        if overflow { return Interval(nanoseconds: right.nanoseconds > 0 ? .min : .max) }
        return Interval(nanoseconds: difference)
    }

    /// The length times `factor`; saturates on overflow.
    public static func * (interval: Interval, factor: Int64) -> Interval {
        let (product, overflow) = interval.nanoseconds.multipliedReportingOverflow(by: factor)
        if overflow { return Interval(nanoseconds: (interval.nanoseconds > 0) == (factor > 0) ? .max : .min) }
        return Interval(nanoseconds: product)
    }

    /// The length divided by `divisor`, which must be above 0; rounded toward zero.
    public static func / (interval: Interval, divisor: Int64) -> Interval {
        Interval(nanoseconds: interval.nanoseconds / divisor)
    }
}
