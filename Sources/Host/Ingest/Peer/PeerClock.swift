import CaptureLink
public import MediaTypes
import TrackHub

/// The clock of a capture that may be on another machine: measures it with pings, and converts its times to our clock.
struct PeerClock {
    /// How often the capture is pinged once its clock is known.
    private static let period = Interval.seconds(1)
    /// How often it is pinged before that.
    private static let hurriedPeriod = Interval.milliseconds(50)
    private static let hurriedPings = 8
    /// How long to wait for an answer before the next ping is sent.
    private static let timeout = Interval.seconds(2)

    private var estimator = ClockOffsetEstimator()
    private var asked: MonotonicTime?
    private var isAnswered = true
    private var pings = 0
    private var toldJumps = 0

    /// When `pingIfDue` has something to send.
    var nextPing: MonotonicTime {
        guard let asked else { return .zero }
        if !isAnswered { return asked + Self.timeout }
        return asked + (pings < Self.hurriedPings ? Self.hurriedPeriod : Self.period)
    }

    /// Returns the time to send in a ping now, or nil if none is due.
    mutating func pingIfDue(_ now: MonotonicTime) -> MonotonicTime? {
        guard nextPing <= now else { return nil }
        asked = now
        isAnswered = false
        pings += 1
        return now
    }

    /// Takes an answer. One that doesn't belong to the last ping, or comes twice, is ignored.
    mutating func take(_ echo: ClockEcho, arrival: MonotonicTime) {
        guard !isAnswered, echo.asked == asked else { return }
        isAnswered = true
        estimator.add(echo, arrival: arrival)
    }

    /// Converts `time` from the capture's clock to ours; nil while the offset between the clocks isn't known.
    mutating func ours(_ time: MonotonicTime, now: MonotonicTime) -> MonotonicTime? {
        estimator.offset(at: now).map { time - $0 }
    }

    /// The round trip and offset known now; nil before the first answer.
    mutating func timing(_ now: MonotonicTime) -> SourceTiming? {
        guard let roundTrip = estimator.roundTrip, let offset = estimator.offset(at: now) else { return nil }
        return SourceTiming(roundTrip: roundTrip, clockOffset: offset)
    }

    /// Returns whether a clock has jumped since the last call.
    mutating func hasJumped() -> Bool {
        defer { toldJumps = estimator.jumps }
        return estimator.jumps != toldJumps
    }
}

extension Interval {
    /// The interval in milliseconds, such as `1.25 ms`.
    public var inMilliseconds: String {
        let hundredths = abs(nanoseconds / 10_000)
        let part = hundredths % 100
        return "\(nanoseconds < 0 ? "-" : "")\(hundredths / 100).\(part < 10 ? "0" : "")\(part) ms"
    }

    /// The interval in milliseconds, with a plus sign in front unless it is negative.
    public var signed: String { (nanoseconds < 0 ? "" : "+") + inMilliseconds }
}
