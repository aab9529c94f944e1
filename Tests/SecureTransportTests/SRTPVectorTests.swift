import TestSupport
import Testing

@testable import SecureTransport

/// The examples of RFC 3711 appendix B and of RFC 7714 sections 16 and 17.
@Suite("SRTP's published vectors")
struct SRTPVectorTests {
    /// RFC 3711 B.3.
    private static let master = SRTPMasterKey(
        key: bytes("E1F97A0D3E018BE0D64FA32C06DE4139"), salt: bytes("0EC675AD498AFEEBB6960B3AABE6"))

    @Test("RFC 3711 B.3: the session keys come from the master key")
    func keyDerivation() throws {
        #expect(
            try SRTPKeyDerivation.derive(label: 0, count: 16, from: Self.master)
                == bytes("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(
            try SRTPKeyDerivation.derive(label: 2, count: 14, from: Self.master)
                == bytes("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(
            try SRTPKeyDerivation.derive(label: 1, count: 94, from: Self.master)
                == bytes(
                    """
                    CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE
                    E049646C43D9327AD175578EF7227098 6371C10C9A369AC2F94A8C5FBCDDDC25
                    6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
                    """))
        let keys = try SRTPKeyDerivation.sessionKeys(of: Self.master, .aes128CMHMACSHA1, for: .rtp)
        #expect(keys.encryption == bytes("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(keys.authentication == bytes("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4"))
        #expect(keys.salt == bytes("30CBBC08863D8C85D49DB34A9AE1"))
    }

    @Test("RFC 3711 B.2: a packet of zeros becomes AES-CM's key stream, to the end of its counter")
    func keyStream() throws {
        let cipher = try PacketCipher(
            SRTPSessionKeys(
                encryption: bytes("2B7E151628AED2A6ABF7158809CF4F3C"),
                authentication: [UInt8](repeating: 0, count: 20), salt: bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD")), .seal)
        let count = 0xFF02 * 16
        var memory = [UInt8](repeating: 0, count: count + SRTPSession.rtpRoom)
        let written = try memory.withUnsafeMutableBytes {
            try cipher.seal(
                PacketCipher.Packet(clear: 0, count: count, ssrc: 0, index: 0), at: #require($0.baseAddress))
        }
        #expect(written == count + 10)
        #expect(
            Array(memory.prefix(48))
                == bytes(
                    "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"
                ))
        #expect(
            Array(memory[0xFEFF * 16..<0xFF02 * 16])
                == bytes(
                    "EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44"
                ))
    }

    // MARK: RFC 7714

    private static let keys = SRTPSessionKeys(
        encryption: bytes("000102030405060708090a0b0c0d0e0f"), salt: bytes("517569642070726f2071756f"))

    private static let rtp = bytes(
        """
        8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976
        69736120 696e2070 61727465 73207472 6573
        """)
    private static let srtp = bytes(
        """
        8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5
        0d294e6f 42a5f47a 51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
        """)
    private static let rtpShape = PacketCipher.Packet(
        clear: 12, count: rtp.count, ssrc: 0x5501_A0B2, index: 0xF17B)
    private static let rtcp = bytes(
        """
        81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61
        deadbeef deadbeef deadbeef deadbeef deadbeef
        """)
    private static let srtcp = bytes(
        """
        81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d
        c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
        """)
    private static let taggedRTCP = rtcp + bytes("841dd968 3dd78ec9 2ae58790 125f62b3 000005d4")
    private static let rtcpShape = PacketCipher.Packet(
        clear: 8, count: rtcp.count, ssrc: 0x4D61_7273, index: 0x5D4, trailer: 0x8000_05D4)
    private static let taggedRTCPShape = PacketCipher.Packet(
        clear: rtcp.count, count: rtcp.count, ssrc: 0x4D61_7273, index: 0x5D4, trailer: 0x5D4)

    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let plain: [UInt8]
        let protected: [UInt8]
        let shape: PacketCipher.Packet
    }

    static let examples = [
        Example(testDescription: "16.1, an enciphered RTP packet", plain: rtp, protected: srtp, shape: rtpShape),
        Example(testDescription: "17.1, an enciphered RTCP packet", plain: rtcp, protected: srtcp, shape: rtcpShape),
        Example(
            testDescription: "17.3, an RTCP packet with a tag only", plain: rtcp, protected: taggedRTCP,
            shape: taggedRTCPShape),
    ]

    @Test("RFC 7714: a packet is sealed to the published bytes, and opened again", arguments: examples)
    func packets(example: Example) throws {
        var memory = example.plain + [UInt8](repeating: 0, count: SRTPSession.rtcpRoom)
        let sealing = try PacketCipher(Self.keys, .seal)
        let written = try memory.withUnsafeMutableBytes {
            try sealing.seal(example.shape, at: #require($0.baseAddress))
        }
        #expect(Array(memory.prefix(written)) == example.protected)
        let opening = try PacketCipher(Self.keys, .open)
        try memory.withUnsafeMutableBytes { try opening.open(example.shape, at: #require($0.baseAddress)) }
        #expect(Array(memory.prefix(example.plain.count)) == example.plain)
    }

    @Test("RFC 7714: a packet with any bit changed is not authentic", arguments: examples)
    func changedPackets(example: Example) throws {
        let opening = try PacketCipher(Self.keys, .open)
        let tagEnd = example.plain.count + opening.tagCount
        for bit in 0..<tagEnd * 8 {
            var memory = example.protected
            memory[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SecureTransportError.authenticationFailed) {
                try memory.withUnsafeMutableBytes { try opening.open(example.shape, at: #require($0.baseAddress)) }
            }
        }
        var memory = example.protected
        try memory.withUnsafeMutableBytes { try opening.open(example.shape, at: #require($0.baseAddress)) }
        #expect(Array(memory.prefix(example.plain.count)) == example.plain)
    }

    @Test("an RTCP packet that is authenticated and not enciphered is accepted once", arguments: SRTPProfile.allCases)
    func plainControlPacket(profile: SRTPProfile) throws {
        let master = SRTPMasterKey(
            key: Self.master.key, salt: Array(Self.master.salt.prefix(profile.saltCount)))
        let session = try SRTPSession(keys: SRTPKeys(profile: profile, local: master, remote: master))
        let cipher = try PacketCipher(
            SRTPKeyDerivation.sessionKeys(of: master, profile, for: .rtcp), .seal)
        var packet = Self.rtcp + [UInt8](repeating: 0, count: SRTPSession.rtcpRoom)
        let written = try packet.withUnsafeMutableBytes {
            try cipher.seal(Self.taggedRTCPShape, at: #require($0.baseAddress))
        }
        packet.removeLast(packet.count - written)
        var (first, second) = (packet, packet)
        try session.unprotectRTCP(&first)
        #expect(first == Self.rtcp)
        #expect(throws: SecureTransportError.replayed) { try session.unprotectRTCP(&second) }
    }
}
