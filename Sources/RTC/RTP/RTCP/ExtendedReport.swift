import ByteCoding
public import MediaTypes

/// An extended report with the blocks that let a receiver measure the round-trip time (RFC 3611 sections 4.4 and 4.5);
/// other blocks are skipped.
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|reserved |   PT=XR=207   |             length            |
///     |                              SSRC                             |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     BT=4      |   reserved    |       block length = 2        |   receiver reference time
///     |                       NTP time stamp (64)                     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     BT=5      |   reserved    |  block length = 3 a receiver  |   the answer, DLRR
///     |     SSRC of the receiver | last RR time (32) | delay (32)     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct ExtendedReport: Hashable, Sendable {
    static let packetType: UInt8 = 207

    /// The answer to one receiver's reference time.
    public struct Delay: Hashable, Sendable {
        /// The receiver that sent its reference time.
        public var ssrc: SSRC
        /// The middle 32 bits of that reference time.
        public var lastReferenceTime: UInt32
        /// The time since the reference time arrived, in 1/65536 s.
        public var delaySinceLastReferenceTime: UInt32

        public init(ssrc: SSRC, lastReferenceTime: UInt32, delaySinceLastReferenceTime: UInt32) {
            self.ssrc = ssrc
            self.lastReferenceTime = lastReferenceTime
            self.delaySinceLastReferenceTime = delaySinceLastReferenceTime
        }
    }

    /// The source of the report.
    public var sender: SSRC
    /// The reporting receiver's own clock time.
    public var referenceTime: NTPTime?
    /// Answers to receivers; at most 255 are written.
    public var delays: [Delay]

    public init(sender: SSRC, referenceTime: NTPTime? = nil, delays: [Delay] = []) {
        self.sender = sender
        self.referenceTime = referenceTime
        self.delays = delays
    }

    init(reading reader: inout ByteReader) throws(RTPError) {
        guard let sender = reader.uint32() else {
            throw .truncated(part: "an extended report", needed: 4, available: reader.count)
        }
        self.init(sender: SSRC(sender))
        while !reader.isEmpty {
            guard let type = reader.uint8(), reader.uint8() != nil, let words = reader.uint16() else {
                throw .truncated(part: "a block of an extended report", needed: 4, available: reader.count)
            }
            guard let body = reader.bytes(Int(words) * 4) else {
                throw .truncated(
                    part: "a block of an extended report", needed: Int(words) * 4, available: reader.count)
            }
            var block = ByteReader(body)
            if type == 4 {
                referenceTime = block.uint64().map { NTPTime($0) } ?? referenceTime
            } else if type == 5 {
                while let ssrc = block.uint32(), let last = block.uint32(), let delay = block.uint32() {
                    delays.append(
                        Delay(ssrc: SSRC(ssrc), lastReferenceTime: last, delaySinceLastReferenceTime: delay))
                }
            }
        }
    }

    /// The answer to the reference time, `delay` after it arrived; nil if there is none.
    public func answer(after delay: Interval) -> Delay? {
        referenceTime.map {
            Delay(
                ssrc: sender, lastReferenceTime: $0.middle32,
                delaySinceLastReferenceTime: UInt32(
                    clamping: min(delay, .seconds(65_535)).nanoseconds / 1000 * 65536 / 1_000_000))
        }
    }

    /// Appends the packet.
    public func write(into buffer: inout [UInt8]) {
        let written = delays.prefix(255)
        buffer.appendRTCP(type: Self.packetType, count: 0) { buffer in
            buffer.appendUInt32(sender.rawValue)
            if let referenceTime {
                buffer.append(4)
                buffer.append(0)
                buffer.appendUInt16(2)
                buffer.appendUInt64(referenceTime.rawValue)
            }
            if !written.isEmpty {
                buffer.append(5)
                buffer.append(0)
                buffer.appendUInt16(UInt16(truncatingIfNeeded: written.count * 3))
                for delay in written {
                    buffer.appendUInt32(delay.ssrc.rawValue)
                    buffer.appendUInt32(delay.lastReferenceTime)
                    buffer.appendUInt32(delay.delaySinceLastReferenceTime)
                }
            }
        }
    }
}
