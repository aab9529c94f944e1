public import MediaTypes

/// Maps the RTP timestamps of a remote stream to this machine's clock, based on when the packets arrive.
///
/// The packet with the shortest delay determines the offset between the two clocks, which includes the minimum network
/// delay. So no mapped time is later than the packet's arrival, and network jitter does not affect the intervals
/// between pictures. The fastest packet of each ten seconds corrects for clock drift. If the stream's timestamps jump,
/// or it has been idle for long, the mapping starts over.
public struct ArrivalClock: Sendable {
    /// The window over which the fastest packet is determined.
    private static let window = Interval.seconds(10)
    /// A packet that appears to be later than this means that the stream's clock has jumped.
    private static let maxDelay = Interval.seconds(2)
    /// A sender report that appears to be earlier than this is from another clock.
    private static let earliestReport = Interval.seconds(1)

    /// A timestamp, and the time at which its packet would arrive with the minimum delay.
    private var anchor: (timestamp: RTPTimestamp, time: MonotonicTime)?
    private var windowEnd = MonotonicTime.zero
    /// The smallest lateness seen in this window.
    private var minLateness: Interval?

    private let clockRate: ClockRate

    /// A clock of a stream whose timestamps have this rate, and that has seen no packet yet.
    public init(_ clockRate: ClockRate) { self.clockRate = clockRate }

    /// The local time that corresponds to `timestamp`, whose packet arrived at `arrival`; never later than `arrival`.
    public mutating func time(of timestamp: RTPTimestamp, arrival: MonotonicTime) -> MonotonicTime {
        guard let expected = expectedTime(of: timestamp), arrival - expected <= Self.maxDelay else {
            restart(at: timestamp, arrival)
            return arrival
        }
        let time = min(expected, arrival)
        anchor = (timestamp, time)
        follow(lateness: arrival - time, arrival: arrival)
        return time
    }

    /// Takes a sender report into account. Reports are sent without the delay that encoding and pacing add to pictures.
    public mutating func note(_ report: SenderReport, arrival: MonotonicTime) {
        guard let expected = expectedTime(of: report.rtpTimestamp), let anchor else { return }
        let lateness = arrival - expected
        guard lateness > .zero - Self.earliestReport, lateness <= Self.maxDelay else { return }
        guard lateness < .zero else {
            minLateness = min(minLateness ?? lateness, lateness)
            return
        }
        self.anchor = (anchor.timestamp, anchor.time + lateness)
        minLateness = .zero
    }

    /// The distance to a timestamp is at most 2^31 ticks, so nothing here comes near an overflow.
    private func expectedTime(of timestamp: RTPTimestamp) -> MonotonicTime? {
        anchor.map {
            let ticks = Int64($0.timestamp.distance(to: timestamp))
            return $0.time + Interval(nanoseconds: ticks * 1_000_000_000 / Int64(clockRate.hertz))
        }
    }

    private mutating func restart(at timestamp: RTPTimestamp, _ arrival: MonotonicTime) {
        anchor = (timestamp, arrival)
        minLateness = nil
        windowEnd = arrival + Self.window
    }

    /// At the end of a window, shifts the mapping if every packet in it was late: the clocks have drifted, or the path
    /// has become longer.
    private mutating func follow(lateness: Interval, arrival: MonotonicTime) {
        minLateness = min(minLateness ?? lateness, lateness)
        guard arrival >= windowEnd else { return }
        if let minLateness, let anchor { self.anchor = (anchor.timestamp, anchor.time + minLateness) }
        minLateness = nil
        windowEnd = arrival + Self.window
    }
}
