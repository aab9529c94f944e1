public import MediaTypes

/// A receiver's statistics on one stream, for its reports (RFC 3550 section 6.4.1 and appendices A.3 and A.8).
public struct ReceptionStatistics: Sendable {
    private var unwrapper = SequenceUnwrapper()
    private var first: Int64?
    private var received: Int64 = 0
    private var expectedBefore: Int64 = 0
    private var receivedBefore: Int64 = 0
    /// In sixteenths of a tick.
    private var jitter: Int64 = 0
    private var lastTransit: UInt32?
    private var lastReport: (middle: UInt32, arrival: MonotonicTime)?

    private let clockRate: ClockRate

    /// Statistics of a stream whose timestamps have this rate, and that has no packets yet.
    public init(_ clockRate: ClockRate) { self.clockRate = clockRate }

    /// Counts a packet that arrived at `now`, including repeated ones.
    public mutating func note(_ header: RTPPacketHeader, now: MonotonicTime) {
        let number = unwrapper.unwrap(header.sequenceNumber).rawValue
        first = min(first ?? number, number)
        received += 1
        let arrival = UInt32(truncatingIfNeeded: clockRate.ticks(in: now - .zero))
        let transit = arrival &- header.timestamp.rawValue
        if let lastTransit {
            let difference = Int64(Int32(bitPattern: transit &- lastTransit).magnitude)
            jitter += difference - (jitter + 8) >> 4
        }
        lastTransit = transit
    }

    /// Notes a sender report of the stream that arrived at `now`.
    public mutating func note(_ report: SenderReport, now: MonotonicTime) {
        lastReport = (report.ntpTime.middle32, now)
    }

    /// A report on the stream `ssrc` since the last call; nil before its first packet.
    public mutating func report(ssrc: SSRC, now: MonotonicTime) -> ReceptionReport? {
        guard let first, let highest = unwrapper.highest?.rawValue else { return nil }
        let expected = highest - first + 1
        let expectedNow = expected - expectedBefore
        let lostNow = expectedNow - (received - receivedBefore)
        expectedBefore = expected
        receivedBefore = received
        let fraction = expectedNow > 0 && lostNow > 0 ? min(lostNow * 256 / expectedNow, 255) : 0
        var report = ReceptionReport(
            ssrc: ssrc, fractionLost: UInt8(clamping: fraction), cumulativeLost: Int32(clamping: expected - received),
            highestSequenceNumber: UInt32(truncatingIfNeeded: highest), jitter: UInt32(clamping: jitter >> 4))
        if let lastReport {
            report.lastSenderReport = lastReport.middle
            let delay = max(.zero, min(now - lastReport.arrival, .seconds(60_000)))
            report.delaySinceLastSenderReport = UInt32(clamping: delay.nanoseconds / 15_259)
        }
        return report
    }
}
