public import MediaTypes

/// What a sender report says: how much was sent, and how the stream's clock and the machine's go together.
public struct SenderStatistics: Hashable, Sendable {
    /// Packets sent, modulo 2^32; those that are repeated bit for bit count each time.
    public private(set) var packetCount: UInt32 = 0
    /// Bytes of payload sent, without headers and padding, modulo 2^32.
    public private(set) var octetCount: UInt32 = 0

    private var reference: Reference?

    private struct Reference: Hashable, Sendable {
        let timestamp: RTPTimestamp
        let time: MonotonicTime
    }

    /// Nothing sent yet.
    public init() {}

    /// Counts one packet with `payloadByteCount` bytes of payload.
    public mutating func notePacket(payloadByteCount: Int) {
        packetCount &+= 1
        octetCount &+= UInt32(truncatingIfNeeded: payloadByteCount)
    }

    /// Notes that `timestamp` is the time stamp of what was taken at `time`.
    public mutating func noteClock(_ timestamp: RTPTimestamp, at time: MonotonicTime) {
        reference = Reference(timestamp: timestamp, time: time)
    }

    /// A report for `now`, whose RTP time stamp is the last picture's, carried on to `now`; nil before the first picture.
    public func report(ssrc: SSRC, at now: MonotonicTime, clock: NTPClock) -> SenderReport? {
        guard let reference else { return nil }
        return SenderReport(
            ssrc: ssrc, ntpTime: clock.time(at: now),
            rtpTimestamp: reference.timestamp.advanced(by: MediaTime.ticks(in: now - reference.time)),
            packetCount: packetCount, octetCount: octetCount)
    }
}

/// When reports go out: one a second, also while no picture is sent, so that a receiver can always measure the round trip.
public struct ReportSchedule: Sendable {
    /// The time between two reports.
    public static let interval = Interval.seconds(1)

    /// When the next report is due.
    public private(set) var deadline: MonotonicTime

    /// A schedule whose first report is due at `start`.
    public init(start: MonotonicTime) {
        deadline = start
    }

    /// Whether a report is due; sets the next deadline if so. Reports missed during a stall are not made up for.
    public mutating func isDue(at now: MonotonicTime) -> Bool {
        guard now >= deadline else { return false }
        deadline = max(deadline + Self.interval, now + Self.interval / 2)
        return true
    }
}
