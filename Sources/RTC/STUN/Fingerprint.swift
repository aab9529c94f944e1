import ByteCoding

extension STUNMessage {
    /// The value of the FINGERPRINT attribute (RFC 8489 section 14.7) that follows `head`, a header and whole
    /// attributes: the CRC-32 of `head`, with a length field that already counts FINGERPRINT, XOR "STUN".
    static func fingerprint(of head: some Collection<UInt8>) -> [UInt8] {
        let value = CRC32.of(settingLength(of: head, following: 8)[...]) ^ 0x5354_554e
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
