public import MediaTypes

/// Places the RTP time stamps of a stream from elsewhere on this machine's clock, by when its packets come.
///
/// The packet that came quickest says how far the two clocks are apart, the shortest way included: no time is later than
/// the arrival, and the jitter of the network is not in the pictures' distances. Clocks that drift are followed by the quickest
/// packet of each ten seconds. A stream whose time stamps jump, or that has stood still for long, begins anew.
public struct ArrivalClock: Sendable {
    /// How long the quickest packet counts.
    private static let window = Interval.seconds(10)
    /// A packet that seems to be this late tells of a jump in the stream's clock.
    private static let longestDelay = Interval.seconds(2)
    /// A report that seems to be this early is of another clock.
    private static let earliestReport = Interval.seconds(1)

    /// A time stamp and when it would arrive by the quickest way.
    private var anchor: (timestamp: RTPTimestamp, time: MonotonicTime)?
    private var windowEnd = MonotonicTime.zero
    /// The least lateness in this window.
    private var leastLateness: Interval?

    /// A clock that has seen nothing.
    public init() {}

    /// The time that `timestamp`, whose packet came at `arrival`, stands for; never later than `arrival`.
    public mutating func time(of timestamp: RTPTimestamp, arrival: MonotonicTime) -> MonotonicTime {
        guard let expected = expectedTime(of: timestamp), arrival - expected <= Self.longestDelay else {
            restart(at: timestamp, arrival)
            return arrival
        }
        let time = min(expected, arrival)
        anchor = (timestamp, time)
        follow(lateness: arrival - time, arrival: arrival)
        return time
    }

    /// Notes a report, which has been sent without the delay that coding and pacing give to pictures.
    public mutating func note(_ report: SenderReport, arrival: MonotonicTime) {
        guard let expected = expectedTime(of: report.rtpTimestamp), let anchor else { return }
        let lateness = arrival - expected
        guard lateness > .zero - Self.earliestReport, lateness <= Self.longestDelay else { return }
        guard lateness < .zero else {
            leastLateness = min(leastLateness ?? lateness, lateness)
            return
        }
        self.anchor = (anchor.timestamp, anchor.time + lateness)
        leastLateness = .zero
    }

    /// A time stamp is at most 2^31 ticks away, 6.6 hours: no sum here comes near an overflow.
    private func expectedTime(of timestamp: RTPTimestamp) -> MonotonicTime? {
        anchor.map {
            $0.time + Interval(nanoseconds: Int64($0.timestamp.distance(to: timestamp)) * 100_000 / 9)
        }
    }

    private mutating func restart(at timestamp: RTPTimestamp, _ arrival: MonotonicTime) {
        anchor = (timestamp, arrival)
        leastLateness = nil
        windowEnd = arrival + Self.window
    }

    /// Where all packets of a window were late, the clocks have drifted, or the way has become longer.
    private mutating func follow(lateness: Interval, arrival: MonotonicTime) {
        leastLateness = min(leastLateness ?? lateness, lateness)
        guard arrival >= windowEnd else { return }
        if let leastLateness, let anchor { self.anchor = (anchor.timestamp, anchor.time + leastLateness) }
        leastLateness = nil
        windowEnd = arrival + Self.window
    }
}
