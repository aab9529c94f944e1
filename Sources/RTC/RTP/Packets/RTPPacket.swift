import ByteCoding

/// A parsed incoming packet. Its parts are slices of the datagram.
public struct RTPPacket: Hashable, Sendable {
    /// The largest UDP payload that we send. It fits IPv6's minimum MTU (1280), which every path on the Internet
    /// supports.
    public static let maxDatagramByteCount = 1200

    /// The fixed header.
    public private(set) var header: RTPPacketHeader
    /// The header extension, with the four bytes before its elements; empty if there is none.
    public private(set) var headerExtension: ArraySlice<UInt8> = []
    /// The payload without padding; empty in a padding-only packet.
    public private(set) var payload: ArraySlice<UInt8>
    /// The number of padding bytes after the payload.
    public let paddingCount: Int

    /// Parses a decrypted datagram (RFC 3550 section 5.1, RFC 8285 section 4). Throws ``RTPError`` if the version isn't
    /// 2, or if a length in the datagram exceeds its end.
    public init(parsing datagram: ArraySlice<UInt8>) throws(RTPError) {
        var reader = ByteReader(datagram)
        guard let first = reader.uint8(), let second = reader.uint8(), let number = reader.uint16(),
            let timestamp = reader.uint32(), let ssrc = reader.uint32()
        else {
            throw .truncated(
                part: "the RTP header", needed: RTPPacketHeader.byteCount, available: datagram.count)
        }
        guard first >> 6 == 2 else { throw .wrongVersion(first >> 6) }
        header = RTPPacketHeader(
            marker: second & 0x80 != 0, payloadType: PayloadType(second), sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(ssrc))

        let sourcesByteCount = 4 * Int(first & 0x0F)
        guard reader.bytes(sourcesByteCount) != nil else {
            throw .truncated(
                part: "the list of contributing sources", needed: sourcesByteCount, available: reader.count)
        }

        if first & 0x10 != 0 {
            let rest = reader.rest
            guard reader.uint16() != nil, let words = reader.uint16() else {
                throw .truncated(part: "the header extension", needed: 4, available: reader.count)
            }
            guard reader.bytes(Int(words) * 4) != nil else {
                throw .truncated(part: "the header extension", needed: Int(words) * 4, available: reader.count)
            }
            headerExtension = rest.dropLast(reader.count)
        }

        if first & 0x20 != 0 {
            let count = Int(reader.rest.last ?? 0)
            guard count > 0, count <= reader.count else {
                throw .invalidPadding(count: count, available: reader.count)
            }
            paddingCount = count
        } else {
            paddingCount = 0
        }
        payload = reader.rest.dropLast(paddingCount)
    }

    /// The value of the header extension's element `id`, in either form (RFC 8285 section 4); nil if it has none.
    public func extensionElement(_ id: UInt8) -> ArraySlice<UInt8>? {
        var reader = ByteReader(headerExtension)
        guard let profile = reader.uint16(), reader.uint16() != nil else { return nil }
        // The low four bits of the two-byte form's profile are the application's.
        let isTwoByte = profile & 0xFFF0 == 0x1000
        guard isTwoByte || profile == 0xBEDE else { return nil }
        while let first = reader.uint8() {
            // Padding.
            if first == 0 { continue }
            let found = isTwoByte ? first : first >> 4
            // The one-byte form ends at the number 15.
            if !isTwoByte, found == 15 { return nil }
            var count = Int(first & 0x0F) + 1
            if isTwoByte {
                guard let length = reader.uint8() else { return nil }
                count = Int(length)
            }
            guard let value = reader.bytes(count) else { return nil }
            if found == id { return value }
        }
        return nil
    }

    /// The transport-wide number in the header extension's element `id`; nil if it has none.
    public func transportNumber(_ id: UInt8) -> UInt16? {
        guard let value = extensionElement(id), value.count == 2, let high = value.first, let low = value.last else {
            return nil
        }
        return UInt16(high) << 8 | UInt16(low)
    }

    /// The packet that this retransmission repeats (RFC 4588 section 4), as a packet of the stream `ssrc`; nil if it
    /// contains none, because it is only padding.
    ///
    ///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    ///     |  original sequence number     |  original payload …           |
    ///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    public func retransmitted(payloadType: PayloadType, ssrc: SSRC) -> RTPPacket? {
        var reader = ByteReader(payload)
        guard let number = reader.uint16() else { return nil }
        var original = self
        original.header = RTPPacketHeader(
            marker: header.marker, payloadType: payloadType, sequenceNumber: SequenceNumber(number),
            timestamp: header.timestamp, ssrc: ssrc)
        original.payload = reader.rest
        return original
    }
}
