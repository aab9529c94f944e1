extension STUNMessage {
    /// The value of the FINGERPRINT attribute (RFC 8489 section 14.7) that follows `head`, a header and whole
    /// attributes: the CRC-32 of `head`, with a length field that already counts FINGERPRINT, XOR "STUN".
    static func fingerprint(of head: some Collection<UInt8>) -> [UInt8] {
        let value = CRC32.checksum(settingLength(of: head, following: 8)) ^ 0x5354_554e
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

/// The CRC-32 of ITU-T V.42 section 8.1.1.6.2 (ISO 3309): polynomial 0x04C11DB7, reflected.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }

    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in crc >> 8 ^ table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] }
    }
}
