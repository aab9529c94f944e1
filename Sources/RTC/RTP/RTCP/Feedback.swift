import ByteCoding
public import MediaTypes

/// The two packet types of RTCP feedback, and the header that all feedback shares (RFC 4585 section 6.1).
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|   FMT   |  PT=205/206   |          length               |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                  SSRC of packet sender                        |
///     |                  SSRC of media source                         |
///     :            feedback control information (FCI)                 :
enum Feedback {
    static let transport: UInt8 = 205
    static let payload: UInt8 = 206

    static func sources(reading reader: inout ByteReader) throws(RTPError) -> (sender: SSRC, media: SSRC) {
        let available = reader.count
        guard let sender = reader.uint32(), let media = reader.uint32() else {
            throw .truncated(part: "a feedback packet", needed: 8, available: available)
        }
        return (SSRC(sender), SSRC(media))
    }
}

/// A generic NACK, which lists packets that a receiver is missing (RFC 4585 section 6.2.1): the sequence number of one
/// packet, and a bit for each of the next 16.
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |   packet identifier (PID)     |  following lost (BLP)         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct GenericNack: Hashable, Sendable {
    static let format: UInt8 = 1

    /// The receiver that is missing the packets.
    public var sender: SSRC
    /// The stream that the packets belong to.
    public var media: SSRC
    /// The sequence numbers of the missing packets, in the order in which the peer lists them.
    public var sequenceNumbers: [SequenceNumber]

    public init(sender: SSRC, media: SSRC, sequenceNumbers: [SequenceNumber]) {
        self.sender = sender
        self.media = media
        self.sequenceNumbers = sequenceNumbers
    }

    init(reading reader: inout ByteReader) throws(RTPError) {
        (sender, media) = try Feedback.sources(reading: &reader)
        sequenceNumbers = []
        // At most 17 numbers for four bytes of datagram.
        while let identifier = reader.uint16(), let following = reader.uint16() {
            let first = SequenceNumber(identifier)
            sequenceNumbers.append(first)
            for bit in 0..<16 where following >> UInt16(bit) & 1 != 0 {
                sequenceNumbers.append(first.advanced(by: bit + 1))
            }
        }
    }

    /// Appends the packet. Numbers within 16 of the first one share an entry.
    public func write(into buffer: inout [UInt8]) {
        buffer.appendRTCP(type: Feedback.transport, count: Int(Self.format)) { buffer in
            buffer.appendUInt32(sender.rawValue)
            buffer.appendUInt32(media.rawValue)
            var rest = sequenceNumbers[...]
            while let first = rest.popFirst() {
                var following: UInt16 = 0
                while let next = rest.first, (1...16).contains(first.distance(to: next)) {
                    following |= 1 << UInt16(first.distance(to: next) - 1)
                    rest = rest.dropFirst()
                }
                buffer.appendUInt16(first.rawValue)
                buffer.appendUInt16(following)
            }
        }
    }
}

/// A receiver's message that it lost a picture and can't continue decoding (RFC 4585 section 6.3.1). Has no FCI.
public struct PictureLossIndication: Hashable, Sendable {
    static let format: UInt8 = 1

    /// The receiver that lost the picture.
    public var sender: SSRC
    /// The stream that the picture belongs to.
    public var media: SSRC

    public init(sender: SSRC, media: SSRC) {
        self.sender = sender
        self.media = media
    }

    init(reading reader: inout ByteReader) throws(RTPError) {
        (sender, media) = try Feedback.sources(reading: &reader)
    }

    /// Appends the packet.
    public func write(into buffer: inout [UInt8]) {
        buffer.appendRTCP(type: Feedback.payload, count: Int(Self.format)) { buffer in
            buffer.appendUInt32(sender.rawValue)
            buffer.appendUInt32(media.rawValue)
        }
    }
}

/// A full intra request: a command to send a key frame (RFC 5104 section 4.3.1).
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                              SSRC                             |
///     | seq nr.       |    reserved                                   |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct FullIntraRequest: Hashable, Sendable {
    static let format: UInt8 = 4

    /// A stream that is to send a key frame.
    public struct Entry: Hashable, Sendable {
        /// The SSRC of the stream.
        public var ssrc: SSRC
        /// The command's sequence number. The same number again is a repetition of the same command.
        public var sequenceNumber: UInt8

        public init(ssrc: SSRC, sequenceNumber: UInt8) {
            self.ssrc = ssrc
            self.sequenceNumber = sequenceNumber
        }
    }

    /// The source of the request.
    public var sender: SSRC
    /// The streams addressed. The packet's own media source field has no meaning here and is zero.
    public var entries: [Entry]

    public init(sender: SSRC, entries: [Entry]) {
        self.sender = sender
        self.entries = entries
    }

    init(reading reader: inout ByteReader) throws(RTPError) {
        (sender, _) = try Feedback.sources(reading: &reader)
        entries = []
        while let ssrc = reader.uint32(), let number = reader.uint8(), reader.bytes(3) != nil {
            entries.append(Entry(ssrc: SSRC(ssrc), sequenceNumber: number))
        }
    }

    /// Appends the packet.
    public func write(into buffer: inout [UInt8]) {
        buffer.appendRTCP(type: Feedback.payload, count: Int(Self.format)) { buffer in
            buffer.appendUInt32(sender.rawValue)
            buffer.appendUInt32(0)
            for entry in entries {
                buffer.appendUInt32(entry.ssrc.rawValue)
                buffer.append(entry.sequenceNumber)
                buffer.appendUInt24(0)
            }
        }
    }
}

/// A receiver's estimate of the bit rate that its path can carry (draft-alvestrand-rmcat-remb-03), sent as application
/// layer feedback.
///
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |  'R'          |  'E'          |  'M'          |  'B'          |
///     |  Num SSRC     | BR exp (6)|  BR mantissa (18)                 |
///     |   Num SSRC times the SSRC of a stream                         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct ReceiverEstimatedMaximumBitRate: Hashable, Sendable {
    static let format: UInt8 = 15
    private static let identifier: UInt32 = 0x5245_4D42

    /// The receiver that made the estimate.
    public var sender: SSRC
    /// The bit rate for all `sources` together; saturates at the largest `Int`.
    public var bitRate: BitRate
    /// The streams that share the bit rate; at most 255 are written.
    public var sources: [SSRC]

    public init(sender: SSRC, bitRate: BitRate, sources: [SSRC]) {
        self.sender = sender
        self.bitRate = bitRate
        self.sources = sources
    }

    /// Parses the packet; nil if the feedback belongs to another application.
    init?(reading reader: inout ByteReader) throws(RTPError) {
        (sender, _) = try Feedback.sources(reading: &reader)
        guard reader.uint32() == Self.identifier else { return nil }
        let available = reader.count
        guard let count = reader.uint8(), let rate = reader.uint24() else {
            throw .truncated(part: "an estimated bit rate", needed: 4, available: available)
        }
        guard reader.count >= Int(count) * 4 else {
            throw .invalidLength(part: "an estimated bit rate's list of sources", length: Int(count))
        }
        let mantissa = Int(rate & 0x3FFFF)
        let exponent = Int(rate >> 18)
        // A mantissa of 18 bits shifted by more than 45 does not fit in 63 bits.
        bitRate = BitRate(bitsPerSecond: mantissa == 0 ? 0 : exponent > 45 ? .max : mantissa << exponent)
        sources = []
        for _ in 0..<count {
            guard let source = reader.uint32() else { break }
            sources.append(SSRC(source))
        }
    }

    /// Appends the packet; the rate is rounded down to 18 bits.
    public func write(into buffer: inout [UInt8]) {
        var mantissa = UInt64(clamping: bitRate.bitsPerSecond)
        var exponent: UInt32 = 0
        while mantissa > 0x3FFFF {
            mantissa >>= 1
            exponent += 1
        }
        let written = sources.prefix(255)
        buffer.appendRTCP(type: Feedback.payload, count: Int(Self.format)) { buffer in
            buffer.appendUInt32(sender.rawValue)
            buffer.appendUInt32(0)
            buffer.appendUInt32(Self.identifier)
            buffer.append(UInt8(truncatingIfNeeded: written.count))
            buffer.appendUInt24(exponent << 18 | UInt32(truncatingIfNeeded: mantissa))
            for source in written { buffer.appendUInt32(source.rawValue) }
        }
    }
}
