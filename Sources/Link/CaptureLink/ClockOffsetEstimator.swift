public import MediaTypes

/// A capture's answer to a ping, with the times that its clock showed.
public struct ClockEcho: Hashable, Sendable {
    /// The ping's time, by the host's clock.
    public var asked: MonotonicTime
    /// When the ping arrived, by the capture's clock.
    public var received: MonotonicTime
    /// When the answer was sent, by the capture's clock.
    public var sent: MonotonicTime

    /// Creates an answer with these times.
    public init(asked: MonotonicTime, received: MonotonicTime, sent: MonotonicTime) {
        self.asked = asked
        self.received = received
        self.sent = sent
    }
}

/// Estimates how far the clock of a capture on another machine is ahead of this machine's, from pings and their
/// answers.
///
/// Four time stamps make a sample (RFC 5905, section 8). Its error is at most half of the round trip, however different
/// the two directions are. The sample with the smallest possible error counts; that error grows with the sample's age,
/// because clocks drift apart. If a new sample and an old one can't both be true, a clock has jumped (a machine slept),
/// and the old samples are dropped. The offset that is returned follows slowly, so that times that are shifted by it
/// keep their intervals.
///
/// It has no thread and no clock of its own: the caller passes the time, always by the host's clock.
public struct ClockOffsetEstimator: Sendable {
    /// How long a sample counts.
    public static let window = Interval.seconds(30)
    /// The most that two quartz clocks drift apart if each is off by 100 parts per million: one part in 5000.
    private static let driftDivisor: Int64 = 5000
    /// How fast the returned offset may move: one part in 100.
    private static let slewDivisor: Int64 = 100
    /// A larger difference than this is applied at once.
    private static let maxSlew = Interval.milliseconds(50)
    /// Samples with a longer round trip than this are not used.
    private static let maxRoundTrip = Interval.seconds(2)
    /// More than the pings of one window.
    private static let sampleLimit = 64

    private struct Sample: Sendable {
        let offset: Interval
        let roundTrip: Interval
        let time: MonotonicTime

        /// The largest possible error at `now`.
        func doubt(at now: MonotonicTime) -> Interval {
            Interval(nanoseconds: roundTrip.nanoseconds / 2) + (now - time) / driftDivisor
        }
    }

    private var samples: [Sample] = []
    private var applied: (offset: Interval, time: MonotonicTime)?
    /// How many times a clock has jumped.
    public private(set) var jumps = 0
    /// The round trip of the last ping, without the time that the capture held it; nil before the first answer.
    public private(set) var roundTrip: Interval?

    /// Creates an estimator that knows nothing yet.
    public init() {}

    /// Adds the answer to a ping that was sent at `echo.asked`; the caller has made sure that it was. Returns false if
    /// its times are impossible, or its round trip is too long.
    @discardableResult
    public mutating func add(_ echo: ClockEcho, arrival now: MonotonicTime) -> Bool {
        let whole = now - echo.asked
        let kept = echo.sent - echo.received
        guard whole >= .zero, kept >= .zero, kept <= whole, whole - kept <= Self.maxRoundTrip else { return false }
        let out = echo.received - echo.asked
        let back = echo.sent - now
        // Halve each one first, since the clocks may be as far apart as the numbers go.
        let offset = Interval(nanoseconds: out.nanoseconds / 2 + back.nanoseconds / 2)
        let sample = Sample(offset: offset, roundTrip: whole - kept, time: now)
        roundTrip = sample.roundTrip
        forgetBefore(now)
        if samples.contains(where: { contradicts($0, sample, now) }) {
            samples.removeAll()
            jumps += 1
        }
        if samples.count >= Self.sampleLimit { samples.removeFirst() }
        samples.append(sample)
        return true
    }

    /// Returns how far the capture's clock is ahead of this machine's at `now`; nil while that isn't known.
    ///
    /// If it is called with times that don't run backwards, the offset moves by at most a hundredth of the time that
    /// passes, or at once if it is off by more than 50 ms.
    public mutating func offset(at now: MonotonicTime) -> Interval? {
        guard let best = best(at: now) else { return applied?.offset }
        guard let applied else {
            applied = (best, now)
            return best
        }
        let distance = best - applied.offset
        let maxStep = max(.zero, now - applied.time) / Self.slewDivisor
        var next = applied.offset
        if distance > Self.maxSlew || distance < .zero - Self.maxSlew {
            next = best
        } else {
            next = next + min(max(distance, .zero - maxStep), maxStep)
        }
        self.applied = (next, max(now, applied.time))
        return next
    }

    /// The offset of the sample with the smallest possible error at `now`; an old sample counts as long as there is no
    /// newer one.
    private func best(at now: MonotonicTime) -> Interval? {
        samples.min { $0.doubt(at: now) < $1.doubt(at: now) }?.offset
    }

    private func contradicts(_ one: Sample, _ other: Sample, _ now: MonotonicTime) -> Bool {
        let distance = one.offset - other.offset
        // Allow a millisecond for time stamps that are taken late.
        let doubt = one.doubt(at: now) + other.doubt(at: now) + .milliseconds(1)
        return distance > doubt || distance < .zero - doubt
    }

    private mutating func forgetBefore(_ now: MonotonicTime) {
        samples.removeAll { now - $0.time > Self.window }
    }
}
