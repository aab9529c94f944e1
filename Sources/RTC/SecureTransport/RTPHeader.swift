/// The fields of an RTP packet's header that SRTP reads (RFC 3550 section 5.1). The whole header stays unencrypted.
///
///      0                   1                   2                   3
///     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
///     |                           timestamp                           |
///     |           synchronization source (SSRC) identifier            |
///     |         CC contributing sources, 4 bytes for each             |
///     |  with X: defined by profile   |    length, in 4 bytes each    |
///     |                            extension                          |
struct RTPHeader {
    private static let fixedCount = 12
    private static let extensionFlag: UInt8 = 0x10
    private static let contributorMask: UInt8 = 0x0F

    let sequenceNumber: UInt16
    let ssrc: UInt32
    /// The size of the header in bytes, including its contributing sources and its extension.
    let count: Int

    /// Reads the header of the packet of `packetCount` bytes at `start`; nil if the header does not fit in the packet.
    init?(at start: UnsafeRawPointer, count packetCount: Int) {
        guard packetCount >= Self.fixedCount else { return nil }
        let first = start.load(as: UInt8.self)
        var count = Self.fixedCount + 4 * Int(first & Self.contributorMask)
        if first & Self.extensionFlag != 0 {
            guard packetCount >= count + 4 else { return nil }
            count += 4 + 4 * Int(start.bigEndianUInt16(at: count + 2))
        }
        guard packetCount >= count else { return nil }
        sequenceNumber = start.bigEndianUInt16(at: 2)
        ssrc = start.bigEndianUInt32(at: 8)
        self.count = count
    }
}

extension UnsafeRawPointer {
    func bigEndianUInt16(at offset: Int) -> UInt16 {
        UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    func bigEndianUInt32(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
