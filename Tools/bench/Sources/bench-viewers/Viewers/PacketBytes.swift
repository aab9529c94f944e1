/// The fields of an RTP packet's header, which SRTP leaves in clear. The packet has at least 12 bytes.
extension UnsafeRawBufferPointer {
    func uint16(at offset: Int) -> UInt16 { UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
    func uint32(at offset: Int) -> UInt32 { UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }

    var rtpPayloadType: UInt8 { self[1] & 0x7F }
    var rtpMarker: Bool { self[1] & 0x80 != 0 }
    var rtpSequenceNumber: UInt16 { uint16(at: 2) }
    var rtpTimestamp: UInt32 { uint32(at: 4) }
    var rtpSource: UInt32 { uint32(at: 8) }

    /// The transport-wide number that the packet carries in the header extension `id`.
    func rtpTransportNumber(_ id: UInt8) -> UInt16? {
        guard let found = rtpExtension(id), found.count == 2 else { return nil }
        return uint16(at: found.lowerBound)
    }

    /// Where the bytes of the header extension `id` are (RFC 8285, in either form); nil if the packet hasn't got it.
    private func rtpExtension(_ id: UInt8) -> Range<Int>? {
        guard self[0] & 0x10 != 0 else { return nil }
        var place = 12 + 4 * Int(self[0] & 0x0F)
        guard place + 4 <= count else { return nil }
        let form = uint16(at: place)
        let end = place + 4 + 4 * Int(uint16(at: place + 2))
        guard end <= count, form == 0xBEDE || form == 0x1000 else { return nil }
        let isShort = form == 0xBEDE
        place += 4
        while place + 1 < end {
            let head = self[place]
            if head == 0 {
                place += 1
                continue
            }
            let found = isShort ? head >> 4 : head
            let length = isShort ? Int(head & 0x0F) + 1 : Int(self[place + 1])
            let start = place + (isShort ? 1 : 2)
            if found == id { return start + length <= end ? start..<(start + length) : nil }
            place = start + length
        }
        return nil
    }
}
