import ByteCoding
public import MediaTypes

/// What a sender says about its stream: how much it sent, and which RTP time stamp belongs to which NTP time
/// (RFC 3550 section 6.4.1).
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

    public var ssrc: SSRC
    /// The time of this report.
    public var ntpTime: NTPTime
    /// The same time on the stream's clock.
    public var rtpTimestamp: RTPTimestamp
    /// RTP packets sent so far, modulo 2^32.
    public var packetCount: UInt32
    /// Bytes of payload sent so far, without headers and padding, modulo 2^32.
    public var octetCount: UInt32
    /// What the sender receives itself; at most 31 are written.
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

    /// Appends what a compound datagram must have at least: the report, and the source's canonical name (section 6.1).
    public func writeCompound(canonicalName: String, into buffer: inout [UInt8]) {
        write(into: &buffer)
        SourceDescription(ssrc: ssrc, canonicalName: canonicalName).write(into: &buffer)
    }
}

/// What a receiver that sends no media says about the streams that it gets (RFC 3550 section 6.4.2): a sender report
/// without the sender's part, packet type 201.
public struct ReceiverReport: Hashable, Sendable {
    static let packetType: UInt8 = 201

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

/// How one stream comes in (RFC 3550 section 6.4.1).
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

    public var ssrc: SSRC
    /// Packets lost since the last report, in 1/256.
    public var fractionLost: UInt8
    /// Packets lost so far, 24 bits; below zero where more came than were sent.
    public var cumulativeLost: Int32
    /// The highest sequence number in the low, the count of its turns in the high 16 bits.
    public var highestSequenceNumber: UInt32
    /// The mean deviation of the packets' spacing, in ticks of the stream's clock.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's NTP time; 0 where none came yet.
    public var lastSenderReport: UInt32
    /// How long ago that report came, in 1/65536 s.
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
                    // The shift up and back brings bit 23 along as the sign.
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

    /// How long our last report and this answer were on the way, given the time by our clock when it came. Nil where no
    /// report of ours had arrived yet, or the numbers make no sense (a time under way of over a minute).
    public func roundTripTime(now: NTPTime) -> Interval? {
        guard lastSenderReport != 0 else { return nil }
        let ticks = Int32(bitPattern: now.middle32 &- lastSenderReport &- delaySinceLastSenderReport)
        // Rounding on both sides can give a little less than nothing on a fast path: a second of it is no rounding.
        guard ticks > -65536, ticks < 60 * 65536 else { return nil }
        return Interval(nanoseconds: Int64(max(ticks, 0)) * 1_000_000_000 / 65536)
    }
}
