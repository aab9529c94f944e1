public import MediaTypes

/// How fast a recording is sent.
public enum ReplaySpeed: Hashable, Sendable {
    /// So many thousandths of the recorded pace: 1000 is as it was.
    case thousandths(Int64)
    /// As fast as the other end takes it.
    case unlimited

    /// As it was recorded.
    public static let recorded = ReplaySpeed.thousandths(1000)
}

/// When each message of a recording is due on this machine's clock.
///
/// Every time is reckoned from one point, so that being late once delays nothing behind it.
public struct ReplayPace: Sendable {
    private let speed: ReplaySpeed
    private var anchor: Anchor?

    /// Where the recording's time and this machine's meet.
    private struct Anchor {
        let recorded: Interval
        let time: MonotonicTime
    }

    /// A pace that begins with the first message it is asked about.
    public init(_ speed: ReplaySpeed) {
        self.speed = speed
    }

    /// When the message recorded at `recorded` is due; the first one asked about is due now.
    public mutating func due(_ recorded: Interval, now: MonotonicTime) -> MonotonicTime {
        guard let anchor else {
            anchor = Anchor(recorded: recorded, time: now)
            return now
        }
        guard case .thousandths(let factor) = speed else { return anchor.time }
        return anchor.time + Self.scaled(recorded - anchor.recorded, by: max(1, factor))
    }

    /// What was recorded at `recorded` is due at `time`: the recording begins anew, or goes on after a pause.
    public mutating func begin(_ recorded: Interval, at time: MonotonicTime) {
        anchor = Anchor(recorded: recorded, time: time)
    }

    /// How long `interval` of the recording takes; nothing where only the other end sets the pace.
    public func length(of interval: Interval) -> Interval {
        guard case .thousandths(let factor) = speed else { return .zero }
        return Self.scaled(interval, by: max(1, factor))
    }

    /// Whole seconds and the rest apart: a thousand times a long recording in nanoseconds would not fit.
    private static func scaled(_ interval: Interval, by factor: Int64) -> Interval {
        let second: Int64 = 1_000_000_000
        let (whole, rest) = interval.nanoseconds.quotientAndRemainder(dividingBy: second)
        let thousands = Interval.seconds(whole) * 1000
        guard thousands.nanoseconds != .max, thousands.nanoseconds != .min else {
            return Interval(nanoseconds: interval.nanoseconds / factor) * 1000
        }
        return Interval(nanoseconds: (thousands + Interval(nanoseconds: rest * 1000)).nanoseconds / factor)
    }
}
