/// The fixed part of an RTP packet (RFC 3550 section 5.1).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                           timestamp                           |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                             SSRC                              |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |             CC times a contributing source, then, if X,       |
///     |             a header extension (RFC 8285), payload, padding   |
///     +---------------------------------------------------------------+
public struct RTPPacketHeader: Hashable, Sendable {
    /// The size of the fixed part in bytes.
    public static let byteCount = 12

    /// For video, whether this is the last packet of its frame (for H.264, RFC 6184 section 5.1); for sound, whether it
    /// is the first one after a silence (RFC 3551 section 4.1).
    public var marker: Bool
    /// The number of the payload's format.
    public var payloadType: PayloadType
    /// The packet's sequence number.
    public var sequenceNumber: SequenceNumber
    /// The picture's time on the stream's clock.
    public var timestamp: RTPTimestamp
    /// The stream that the packet belongs to.
    public var ssrc: SSRC

    /// Creates a header with these fields.
    public init(
        marker: Bool, payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC
    ) {
        self.marker = marker
        self.payloadType = payloadType
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
    }

    /// Appends the 12 bytes of the fixed part, without contributing sources.
    ///
    /// - Parameters:
    ///   - hasExtension: whether the caller appends a header extension next.
    ///   - hasPadding: whether the caller ends the packet with padding and its count.
    public func write(into buffer: inout [UInt8], hasExtension: Bool = false, hasPadding: Bool = false) {
        buffer.append(0x80 | (hasPadding ? 0x20 : 0) | (hasExtension ? 0x10 : 0))
        buffer.append((marker ? 0x80 : 0) | payloadType.rawValue)
        buffer.appendUInt16(sequenceNumber.rawValue)
        buffer.appendUInt32(timestamp.rawValue)
        buffer.appendUInt32(ssrc.rawValue)
    }
}
