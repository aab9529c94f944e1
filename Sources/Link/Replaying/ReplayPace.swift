public import MediaTypes

/// The speed at which a recording is sent.
public enum ReplaySpeed: Hashable, Sendable {
    /// The speed in thousandths of the recorded one; 1000 is the original speed.
    case thousandths(Int64)
    /// As fast as the receiver accepts data.
    case unlimited

    /// The recorded speed.
    public static let recorded = ReplaySpeed.thousandths(1000)
}

/// Computes when each message of a recording is due on this machine's clock.
///
/// All times are computed from one anchor, so a single delay doesn't delay everything after it.
public struct ReplayPace: Sendable {
    private let speed: ReplaySpeed
    private var anchor: Anchor?

    /// A time of the recording and the corresponding time of this machine's clock.
    private struct Anchor {
        let recorded: Interval
        let time: MonotonicTime
    }

    /// Creates a pace that starts with the first message it is asked about.
    public init(_ speed: ReplaySpeed) {
        self.speed = speed
    }

    /// The time at which the message recorded at `recorded` is due. The first message is due at `now`.
    public mutating func due(_ recorded: Interval, now: MonotonicTime) -> MonotonicTime {
        guard let anchor else {
            anchor = Anchor(recorded: recorded, time: now)
            return now
        }
        guard case .thousandths(let factor) = speed else { return anchor.time }
        return anchor.time + Self.scaled(recorded - anchor.recorded, by: max(1, factor))
    }

    /// Starts again, or continues after a pause: what was recorded at `recorded` is due at `time`.
    public mutating func begin(_ recorded: Interval, at time: MonotonicTime) {
        anchor = Anchor(recorded: recorded, time: time)
    }

    /// How long `interval` of the recording takes to send; zero if only the receiver limits the speed.
    public func length(of interval: Interval) -> Interval {
        guard case .thousandths(let factor) = speed else { return .zero }
        return Self.scaled(interval, by: max(1, factor))
    }

    /// Handles whole seconds and the rest separately, because a thousand times a long recording in nanoseconds would
    /// overflow.
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
