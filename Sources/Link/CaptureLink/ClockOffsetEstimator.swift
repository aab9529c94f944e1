public import MediaTypes

/// A capture's answer to a ping: what its clock showed.
public struct ClockEcho: Hashable, Sendable {
    /// The ping's time, by the host's clock.
    public var asked: MonotonicTime
    /// When the ping came, by capture's clock.
    public var received: MonotonicTime
    /// When the answer was sent, by capture's clock.
    public var sent: MonotonicTime

    /// An answer of these times.
    public init(asked: MonotonicTime, received: MonotonicTime, sent: MonotonicTime) {
        self.asked = asked
        self.received = received
        self.sent = sent
    }
}

/// How far the clock of a capture on another machine is ahead of ours, from pings and their answers.
///
/// Four stamps make a sample (RFC 5905, section 8): half of what the round trip took is how wrong it can be, however unlike the
/// two ways are. The sample counts that is the surest now; it grows less sure with its age, because clocks drift apart. Where a
/// new sample and the old ones can't all be true a clock has jumped (a machine slept), and the old ones are forgotten. What is
/// handed out follows slowly, so that times that are shifted by it keep their distances.
///
/// No thread and no clock of its own: the caller says what time it is, always by the host's clock.
public struct ClockOffsetEstimator: Sendable {
    /// How long a sample counts.
    public static let window = Interval.seconds(30)
    /// The most that two quartz clocks drift apart, each 100 millionths off: one part in 5000.
    private static let driftDivisor: Int64 = 5000
    /// How fast the offset that is handed out may move: one part in 100.
    private static let slewDivisor: Int64 = 100
    /// What is further off than that is taken at once.
    private static let longestSlew = Interval.milliseconds(50)
    /// A round trip of more than that says nothing that is of use.
    private static let longestRoundTrip = Interval.seconds(2)
    /// Windows' worth of pings, and some.
    private static let sampleLimit = 64

    private struct Sample: Sendable {
        let offset: Interval
        let roundTrip: Interval
        let time: MonotonicTime

        /// How wrong it can be at `now`.
        func doubt(at now: MonotonicTime) -> Interval {
            Interval(nanoseconds: roundTrip.nanoseconds / 2) + (now - time) / driftDivisor
        }
    }

    private var samples: [Sample] = []
    private var applied: (offset: Interval, time: MonotonicTime)?
    /// How often a clock has jumped.
    public private(set) var jumps = 0
    /// What the last answer took there and back, without the time that capture kept it; nil before the first.
    public private(set) var roundTrip: Interval?

    /// Nothing known yet.
    public init() {}

    /// Takes the answer to a ping that was sent at `echo.asked`; the caller has made sure that it was. False where its times can't be.
    @discardableResult
    public mutating func add(_ echo: ClockEcho, arrival now: MonotonicTime) -> Bool {
        let whole = now - echo.asked
        let kept = echo.sent - echo.received
        guard whole >= .zero, kept >= .zero, kept <= whole, whole - kept <= Self.longestRoundTrip else { return false }
        let out = echo.received - echo.asked
        let back = echo.sent - now
        // Half of each: clocks may be as far apart as the numbers go.
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

    /// How far capture's clock is ahead of ours at `now`; nil while that isn't known.
    ///
    /// Called with times that don't run back, it moves by a hundredth of the time that passes at most, or at once by more than 50 ms.
    public mutating func offset(at now: MonotonicTime) -> Interval? {
        guard let best = best(at: now) else { return applied?.offset }
        guard let applied else {
            applied = (best, now)
            return best
        }
        let distance = best - applied.offset
        let most = max(.zero, now - applied.time) / Self.slewDivisor
        var next = applied.offset
        if distance > Self.longestSlew || distance < .zero - Self.longestSlew {
            next = best
        } else {
            next = next + min(max(distance, .zero - most), most)
        }
        self.applied = (next, max(now, applied.time))
        return next
    }

    /// The offset of the sample that is the surest now; an old one where there is no newer.
    private func best(at now: MonotonicTime) -> Interval? {
        samples.min { $0.doubt(at: now) < $1.doubt(at: now) }?.offset
    }

    private func contradicts(_ one: Sample, _ other: Sample, _ now: MonotonicTime) -> Bool {
        let distance = one.offset - other.offset
        // A millisecond for stamps that are taken late.
        let doubt = one.doubt(at: now) + other.doubt(at: now) + .milliseconds(1)
        return distance > doubt || distance < .zero - doubt
    }

    private mutating func forgetBefore(_ now: MonotonicTime) {
        samples.removeAll { now - $0.time > Self.window }
    }
}
