import ByteCoding
public import MediaTypes

/// A sender's report on its stream: how much it has sent, and which RTP timestamp corresponds to which NTP time (RFC
/// 3550 section 6.4.1).
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|   RC    |   PT=SR=200   |             length            |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                        SSRC of sender                         |
///     |              NTP time stamp, most significant word            |
///     |             NTP time stamp, least significant word            |
///     |                         RTP time stamp                        |
///     |                     sender's packet count                     |
///     |                      sender's octet count                     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                   RC reception report blocks                  |
public struct SenderReport: Hashable, Sendable {
    static let packetType: UInt8 = 200

    /// The SSRC of the sender.
    public var ssrc: SSRC
    /// The time of this report.
    public var ntpTime: NTPTime
    /// The same time on the stream's clock.
    public var rtpTimestamp: RTPTimestamp
    /// RTP packets sent so far, modulo 2^32.
    public var packetCount: UInt32
    /// Bytes of payload sent so far, without headers and padding, modulo 2^32.
    public var octetCount: UInt32
    /// Reports on the streams that the sender itself receives; at most 31 are written.
    public var receptionReports: [ReceptionReport]

    public init(
        ssrc: SSRC, ntpTime: NTPTime, rtpTimestamp: RTPTimestamp, packetCount: UInt32, octetCount: UInt32,
        receptionReports: [ReceptionReport] = []
    ) {
        self.ssrc = ssrc
        self.ntpTime = ntpTime
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.receptionReports = receptionReports
    }

    init(reading reader: inout ByteReader, count: UInt8) throws(RTPError) {
        let available = reader.count
        guard let ssrc = reader.uint32(), let ntp = reader.uint64(), let rtp = reader.uint32(),
            let packets = reader.uint32(), let octets = reader.uint32()
        else { throw .truncated(part: "a sender report", needed: 24, available: available) }
        let reports = try ReceptionReport.list(reading: &reader, count: count)
        self.init(
            ssrc: SSRC(ssrc), ntpTime: NTPTime(ntp), rtpTimestamp: RTPTimestamp(rtp), packetCount: packets,
            octetCount: octets, receptionReports: reports)
    }

    /// Appends the report.
    public func write(into buffer: inout [UInt8]) {
        let reports = receptionReports.prefix(31)
        buffer.appendRTCP(type: Self.packetType, count: reports.count) { buffer in
            buffer.appendUInt32(ssrc.rawValue)
            buffer.appendUInt64(ntpTime.rawValue)
            buffer.appendUInt32(rtpTimestamp.rawValue)
            buffer.appendUInt32(packetCount)
            buffer.appendUInt32(octetCount)
            for report in reports { report.write(into: &buffer) }
        }
    }

    /// Appends the minimal compound packet: the report, and the source's canonical name (section 6.1).
    public func writeCompound(canonicalName: String, into buffer: inout [UInt8]) {
        write(into: &buffer)
        SourceDescription(ssrc: ssrc, canonicalName: canonicalName).write(into: &buffer)
    }
}

/// A report on received streams from a participant that sends no media (RFC 3550 section 6.4.2): a sender report
/// without the sender information, packet type 201.
public struct ReceiverReport: Hashable, Sendable {
    static let packetType: UInt8 = 201

    /// The SSRC of the receiver.
    public var ssrc: SSRC
    /// One for each stream; at most 31 are written.
    public var receptionReports: [ReceptionReport]

    public init(ssrc: SSRC, receptionReports: [ReceptionReport] = []) {
        self.ssrc = ssrc
        self.receptionReports = receptionReports
    }

    init(reading reader: inout ByteReader, count: UInt8) throws(RTPError) {
        guard let ssrc = reader.uint32() else {
            throw .truncated(part: "a receiver report", needed: 4, available: reader.count)
        }
        let reports = try ReceptionReport.list(reading: &reader, count: count)
        self.init(ssrc: SSRC(ssrc), receptionReports: reports)
    }

    /// Appends the report.
    public func write(into buffer: inout [UInt8]) {
        let reports = receptionReports.prefix(31)
        buffer.appendRTCP(type: Self.packetType, count: reports.count) { buffer in
            buffer.appendUInt32(ssrc.rawValue)
            for report in reports { report.write(into: &buffer) }
        }
    }
}

/// A report on the reception of one stream (RFC 3550 section 6.4.1).
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                  SSRC of the stream                           |
///     | fraction lost |       cumulative number of packets lost       |
///     |           extended highest sequence number received           |
///     |                      interarrival jitter                      |
///     |                         last SR (LSR)                         |
///     |                   delay since last SR (DLSR)                  |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct ReceptionReport: Hashable, Sendable {
    private static let byteCount = 24

    /// The SSRC of the stream that the report is about.
    public var ssrc: SSRC
    /// The fraction of packets lost since the last report, in 1/256.
    public var fractionLost: UInt8
    /// Packets lost so far, 24 bits; negative if more packets arrived than were expected.
    public var cumulativeLost: Int32
    /// The highest sequence number in the low 16 bits, and the count of its wraps in the high 16 bits.
    public var highestSequenceNumber: UInt32
    /// The mean deviation of the packets' spacing, in ticks of the stream's clock.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's NTP time; 0 if none has arrived.
    public var lastSenderReport: UInt32
    /// The time since that report arrived, in 1/65536 s.
    public var delaySinceLastSenderReport: UInt32

    public init(
        ssrc: SSRC, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, highestSequenceNumber: UInt32,
        jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.highestSequenceNumber = highestSequenceNumber
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    static func list(reading reader: inout ByteReader, count: UInt8) throws(RTPError) -> [ReceptionReport] {
        let needed = Int(count) * byteCount
        guard reader.count >= needed else {
            throw .truncated(part: "a list of reception reports", needed: needed, available: reader.count)
        }
        var reports: [ReceptionReport] = []
        for _ in 0..<count {
            guard let ssrc = reader.uint32(), let fraction = reader.uint8(), let lost = reader.uint24(),
                let highest = reader.uint32(), let jitter = reader.uint32(), let last = reader.uint32(),
                let delay = reader.uint32()
            else { break }
            reports.append(
                ReceptionReport(
                    ssrc: SSRC(ssrc), fractionLost: fraction,
                    // Shifting left and back right extends the sign from bit 23.
                    cumulativeLost: Int32(bitPattern: lost << 8) >> 8, highestSequenceNumber: highest,
                    jitter: jitter, lastSenderReport: last, delaySinceLastSenderReport: delay))
        }
        return reports
    }

    func write(into buffer: inout [UInt8]) {
        buffer.appendUInt32(ssrc.rawValue)
        buffer.append(fractionLost)
        let lost = min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF)
        buffer.appendUInt24(UInt32(bitPattern: lost) & 0xFF_FFFF)
        buffer.appendUInt32(highestSequenceNumber)
        buffer.appendUInt32(jitter)
        buffer.appendUInt32(lastSenderReport)
        buffer.appendUInt32(delaySinceLastSenderReport)
    }

    /// The round-trip time, given the time on our clock when this report arrived. Nil if none of our reports had
    /// reached the peer yet, or if the result is implausible (over a minute).
    public func roundTripTime(now: NTPTime) -> Interval? {
        guard lastSenderReport != 0 else { return nil }
        let ticks = Int32(bitPattern: now.middle32 &- lastSenderReport &- delaySinceLastSenderReport)
        // Rounding on both sides can make the result slightly negative on a fast path, but not by a whole second.
        guard ticks > -65536, ticks < 60 * 65536 else { return nil }
        return Interval(nanoseconds: Int64(max(ticks, 0)) * 1_000_000_000 / 65536)
    }
}
