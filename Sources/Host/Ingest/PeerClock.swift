import CaptureLink
public import MediaTypes

/// The clock of a capture that may be on another machine: asked by pings, and its times put on our own.
struct PeerClock {
    /// How often capture is asked once its clock is known.
    private static let period = Interval.seconds(1)
    /// How soon it is asked again before that.
    private static let hurriedPeriod = Interval.milliseconds(50)
    private static let hurriedPings = 8
    /// An answer that isn't there by then won't come.
    private static let patience = Interval.seconds(2)

    private var estimator = ClockOffsetEstimator()
    private var asked: MonotonicTime?
    private var isAnswered = true
    private var pings = 0
    private var toldJumps = 0

    /// When `pingIfDue` has something to send.
    var nextPing: MonotonicTime {
        guard let asked else { return .zero }
        if !isAnswered { return asked + Self.patience }
        return asked + (pings < Self.hurriedPings ? Self.hurriedPeriod : Self.period)
    }

    /// The time of a ping to be sent at once; nil where none is due.
    mutating func pingIfDue(_ now: MonotonicTime) -> MonotonicTime? {
        guard nextPing <= now else { return nil }
        asked = now
        isAnswered = false
        pings += 1
        return now
    }

    /// Takes an answer; one that nobody asked for, or that is late, counts for nothing.
    mutating func take(_ echo: ClockEcho, arrival: MonotonicTime) {
        guard !isAnswered, echo.asked == asked else { return }
        isAnswered = true
        estimator.add(echo, arrival: arrival)
    }

    /// `time` of capture's clock on ours; nil while the way between them isn't known.
    mutating func ours(_ time: MonotonicTime, now: MonotonicTime) -> MonotonicTime? {
        estimator.offset(at: now).map { time - $0 }
    }

    /// What is known now; nil before the first answer.
    mutating func timing(_ now: MonotonicTime) -> SourceTiming? {
        guard let roundTrip = estimator.roundTrip, let offset = estimator.offset(at: now) else { return nil }
        return SourceTiming(roundTrip: roundTrip, clockOffset: offset)
    }

    /// Whether a clock has jumped since this was asked last.
    mutating func hasJumped() -> Bool {
        defer { toldJumps = estimator.jumps }
        return estimator.jumps != toldJumps
    }
}

/// How far away a source is.
public struct SourceTiming: Sendable, Hashable {
    /// What the last question took there and back.
    public var roundTrip: Interval
    /// How far its clock is ahead of ours.
    public var clockOffset: Interval

    /// A source so far away.
    public init(roundTrip: Interval, clockOffset: Interval) {
        self.roundTrip = roundTrip
        self.clockOffset = clockOffset
    }
}

extension Interval {
    /// `1.25 ms`
    public var inMilliseconds: String {
        let hundredths = abs(nanoseconds / 10_000)
        let part = hundredths % 100
        return "\(nanoseconds < 0 ? "-" : "")\(hundredths / 100).\(part < 10 ? "0" : "")\(part) ms"
    }

    /// The same with a plus in front where it isn't negative.
    public var signed: String { (nanoseconds < 0 ? "" : "+") + inMilliseconds }
}
