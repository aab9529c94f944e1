import ByteCoding

/// A parsed incoming packet. Its parts are slices of the datagram.
public struct RTPPacket: Hashable, Sendable {
    /// The largest UDP payload that we send. It fits IPv6's minimum MTU (1280), which every path on the Internet
    /// supports.
    public static let maxDatagramByteCount = 1200

    /// The fixed header.
    public let header: RTPPacketHeader
    /// The header extension's elements in order.
    public let extensionElements: [HeaderExtensionElement]
    /// The payload without padding; empty in a padding-only packet.
    public let payload: ArraySlice<UInt8>
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
            guard let profile = reader.uint16(), let words = reader.uint16() else {
                throw .truncated(part: "the header extension", needed: 4, available: reader.count)
            }
            guard let data = reader.bytes(Int(words) * 4) else {
                throw .truncated(part: "the header extension", needed: Int(words) * 4, available: reader.count)
            }
            extensionElements = HeaderExtensionElement.parse(data, profile: profile)
        } else {
            extensionElements = []
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

    /// The packet that this retransmission repeats (RFC 4588 section 4), as a packet of the stream `ssrc`; nil if it
    /// contains none, because it is only padding.
    ///
    ///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    ///     |  original sequence number     |  original payload …           |
    ///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
    public func retransmitted(payloadType: PayloadType, ssrc: SSRC) -> RTPPacket? {
        var reader = ByteReader(payload)
        guard let number = reader.uint16() else { return nil }
        let original = RTPPacketHeader(
            marker: header.marker, payloadType: payloadType, sequenceNumber: SequenceNumber(number),
            timestamp: header.timestamp, ssrc: ssrc)
        return RTPPacket(self, header: original, payload: reader.rest)
    }

    private init(_ packet: RTPPacket, header: RTPPacketHeader, payload: ArraySlice<UInt8>) {
        self.header = header
        self.payload = payload
        extensionElements = packet.extensionElements
        paddingCount = packet.paddingCount
    }

    /// The data of the first extension element with the number `id`; nil if there is none.
    public func extensionData(_ id: UInt8) -> ArraySlice<UInt8>? {
        extensionElements.first { $0.id == id }?.data
    }
}

/// An element of a header extension: a number that SDP's `a=extmap` maps to an extension, and the data.
public struct HeaderExtensionElement: Hashable, Sendable {
    /// The number: 1 to 14 in the one-byte form, 1 to 255 in the two-byte form.
    public let id: UInt8
    /// The extension's data.
    public let data: ArraySlice<UInt8>

    /// Parses the elements in `data`. If `profile` stands for neither the one-byte nor the two-byte form, there are
    /// none. A malformed element ends the list.
    static func parse(_ data: ArraySlice<UInt8>, profile: UInt16) -> [HeaderExtensionElement] {
        let isOneByte = profile == 0xBEDE
        guard isOneByte || profile & 0xFFF0 == 0x1000 else { return [] }
        var elements: [HeaderExtensionElement] = []
        var reader = ByteReader(data)
        while let first = reader.uint8() {
            if first == 0 { continue }
            let id: UInt8
            let count: Int
            if isOneByte {
                id = first >> 4
                // 15 means that nothing after it may be read (RFC 8285 section 4.2). 0 with a length is malformed
                // padding.
                guard id != 15, id != 0 else { break }
                count = Int(first & 0x0F) + 1
            } else {
                guard let length = reader.uint8() else { break }
                id = first
                count = Int(length)
            }
            guard let bytes = reader.bytes(count) else { break }
            elements.append(HeaderExtensionElement(id: id, data: bytes))
        }
        return elements
    }
}
