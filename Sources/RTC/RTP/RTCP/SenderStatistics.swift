public import MediaTypes

/// The contents of a sender report: how much was sent, and how the stream's clock relates to the machine's.
public struct SenderStatistics: Hashable, Sendable {
    /// Packets sent; packets repeated bit for bit count each time.
    public private(set) var packetCount: UInt64 = 0
    /// Bytes of payload sent, without headers and padding.
    public private(set) var octetCount: UInt64 = 0

    private var reference: Reference?

    private struct Reference: Hashable, Sendable {
        let timestamp: RTPTimestamp
        let time: MonotonicTime
    }

    /// Statistics of a stream that has sent nothing yet.
    public init() {}

    /// Counts one packet with `payloadByteCount` bytes of payload.
    public mutating func notePacket(payloadByteCount: Int) {
        packetCount &+= 1
        octetCount &+= UInt64(truncatingIfNeeded: payloadByteCount)
    }

    /// Notes that `timestamp` belongs to a picture captured at `time`.
    public mutating func noteClock(_ timestamp: RTPTimestamp, at time: MonotonicTime) {
        reference = Reference(timestamp: timestamp, time: time)
    }

    /// A report for `now`, with an RTP timestamp extrapolated from the last frame's; nil before the first frame. Its
    /// counts are modulo 2^32 (RFC 3550 section 6.4.1).
    public func report(ssrc: SSRC, at now: MonotonicTime, clock: NTPClock, rate: ClockRate) -> SenderReport? {
        guard let reference else { return nil }
        return SenderReport(
            ssrc: ssrc, ntpTime: clock.time(at: now),
            rtpTimestamp: reference.timestamp.advanced(by: rate.ticks(in: now - reference.time)),
            packetCount: UInt32(truncatingIfNeeded: packetCount), octetCount: UInt32(truncatingIfNeeded: octetCount))
    }
}

/// The schedule of sender and receiver reports: one per second, even while no picture is sent, so that the round-trip
/// time can always be measured.
public struct ReportSchedule: Sendable {
    /// The interval between two reports.
    public static let interval = Interval.seconds(1)
    /// The interval between the first two reports to a server. Some servers compute the clock's rate from these, with
    /// times in whole milliseconds: nearer to each other, they would give 89 or 91 ticks instead of 90.
    public static let earlyInterval = Interval.milliseconds(250)

    /// The time at which the next report is due.
    public private(set) var deadline: MonotonicTime
    /// The number of reports so far.
    public private(set) var count = 0
    private let hasEarlySecond: Bool

    /// A schedule whose first report is due at `start`.
    ///
    /// - Parameter hasEarlySecond: whether the second one follows after ``earlyInterval``, because the peer shows
    ///   nothing before. In RTP/SAVPF, there is no minimum interval but the share of the bandwidth (RFC 4585 sections
    ///   2.1 and 3.4), and a unicast session's first report needs no delay (RFC 3550 section 6.2).
    public init(start: MonotonicTime, hasEarlySecond: Bool = false) {
        deadline = start
        self.hasEarlySecond = hasEarlySecond
    }

    /// Whether a report is due; if so, sets the next deadline. Reports missed during a stall are not sent later.
    public mutating func isDue(at now: MonotonicTime) -> Bool {
        guard now >= deadline else { return false }
        count += 1
        let isEarly = hasEarlySecond && count == 1
        deadline = isEarly ? now + Self.earlyInterval : max(deadline + Self.interval, now + Self.interval / 2)
        return true
    }
}
