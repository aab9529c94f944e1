import SecureTransport
import TestSupport
import Testing

@Suite("SRTP sessions")
struct SRTPSessionTests {
    /// The key and the salt of libsrtp's own tests.
    private static func keys(_ profile: SRTPProfile, salt: String, key: String) -> SRTPKeys {
        let master = SRTPMasterKey(key: bytes(key), salt: bytes(salt))
        return SRTPKeys(profile: profile, local: master, remote: master)
    }

    private static let gcm = keys(
        .aeadAES128GCM, salt: "a0a1a2a3a4a5a6a7a8a9aaab", key: "000102030405060708090a0b0c0d0e0f")
    private static let counterMode = keys(
        .aes128CMHMACSHA1, salt: "0ec675ad498afeebb6960b3aabe6", key: "e1f97a0d3e018be0d64fa32c06de4139")

    private static func keys(_ profile: SRTPProfile) -> SRTPKeys {
        profile == .aeadAES128GCM ? gcm : counterMode
    }

    private static let rtp = bytes("800f1234decafbadcafebabe" + String(repeating: "ab", count: 16))
    private static let rtcp = bytes("81c8000bcafebabe" + String(repeating: "ab", count: 16))

    /// An RTP packet with this sequence number and SSRC and 100 bytes that depend on both.
    private static func packet(_ number: Int, source: UInt8 = 1) -> [UInt8] {
        [0x80, 96, UInt8(number >> 8 & 255), UInt8(number & 255), 0, 0, 0, 9, 0, 0, 0, source]
            + [UInt8](repeating: UInt8(number & 255) ^ source, count: 100)
    }

    @Test("counter mode gives the packet of libsrtp's published vector")
    func counterModeVector() throws {
        var packet = Self.rtp
        try SRTPSession(keys: Self.counterMode).protect(&packet)
        #expect(
            packet
                == bytes("800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"))
    }

    @Test("GCM gives the packets of libsrtp's published vectors")
    func gcmVectors() throws {
        let session = try SRTPSession(keys: Self.gcm)
        var packet = Self.rtp
        try session.protect(&packet)
        #expect(
            packet
                == bytes(
                    "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392"))
        var control = Self.rtcp
        try session.protectRTCP(&control)
        #expect(
            control
                == bytes(
                    "81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001"))
    }

    @Test("what one side protects, the other side unprotects", arguments: SRTPProfile.allCases)
    func roundTrip(profile: SRTPProfile) throws {
        let (sender, receiver) = (
            try SRTPSession(keys: Self.keys(profile)), try SRTPSession(keys: Self.keys(profile))
        )
        // The sequence number wraps on the way, so that the roll-over counter counts.
        for number in 65_500..<65_600 {
            var packet = Self.packet(number & 0xFFFF)
            try sender.protect(&packet)
            #expect(packet.dropFirst(12) != Self.packet(number & 0xFFFF)[12...])
            try receiver.unprotect(&packet)
            #expect(packet == Self.packet(number & 0xFFFF))
            var control = Self.rtcp
            try sender.protectRTCP(&control)
            try receiver.unprotectRTCP(&control)
            #expect(control == Self.rtcp)
        }
    }

    @Test("a packet protected again gives the same bytes, also after younger ones", arguments: SRTPProfile.allCases)
    func repetition(profile: SRTPProfile) throws {
        let session = try SRTPSession(keys: Self.keys(profile))
        var first: [[UInt8]] = []
        for number in 0..<2_000 {
            var packet = Self.packet(number)
            try session.protect(&packet)
            first.append(packet)
        }
        for number in [0, 3, 1_000, 1_999] {
            var packet = Self.packet(number)
            try session.protect(&packet)
            #expect(packet == first[number])
        }
    }

    @Test("a received packet is taken once", arguments: SRTPProfile.allCases)
    func replay(profile: SRTPProfile) throws {
        let (sender, receiver) = (
            try SRTPSession(keys: Self.keys(profile)), try SRTPSession(keys: Self.keys(profile))
        )
        let sent = try (0..<1_500).map { number in
            var packet = Self.packet(number)
            try sender.protect(&packet)
            return packet
        }
        for number in 0..<1_500 where number != 5 && number != 1_000 {
            var packet = sent[number]
            try receiver.unprotect(&packet)
        }
        var late = sent[1_000]
        try receiver.unprotect(&late)
        #expect(late == Self.packet(1_000))
        for number in [1_000, 1_499, 5] {
            var packet = sent[number]
            #expect(throws: SecureTransportError.replayed) { try receiver.unprotect(&packet) }
        }
        var control = Self.rtcp
        try sender.protectRTCP(&control)
        var again = control
        try receiver.unprotectRTCP(&control)
        #expect(throws: SecureTransportError.replayed) { try receiver.unprotectRTCP(&again) }
    }

    @Test("a changed packet is rejected, and the true one still taken", arguments: SRTPProfile.allCases)
    func tampering(profile: SRTPProfile) throws {
        let (sender, receiver) = (
            try SRTPSession(keys: Self.keys(profile)), try SRTPSession(keys: Self.keys(profile))
        )
        var packet = Self.packet(1)
        try sender.protect(&packet)
        var control = Self.rtcp
        try sender.protectRTCP(&control)
        for bit in stride(from: 12 * 8, to: packet.count * 8, by: 7) {
            var changed = packet
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SecureTransportError.authenticationFailed) { try receiver.unprotect(&changed) }
        }
        for bit in stride(from: 8 * 8, to: 23 * 8, by: 7) {
            var changed = control
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SecureTransportError.authenticationFailed) { try receiver.unprotectRTCP(&changed) }
        }
        try receiver.unprotect(&packet)
        try receiver.unprotectRTCP(&control)
        #expect(packet == Self.packet(1))
        #expect(control == Self.rtcp)
    }

    @Test("short, cut-off and random packets are rejected, whatever they hold", arguments: SRTPProfile.allCases)
    func malformed(profile: SRTPProfile) throws {
        let (sender, receiver) = (
            try SRTPSession(keys: Self.keys(profile)), try SRTPSession(keys: Self.keys(profile))
        )
        var packet = Self.packet(7)
        try sender.protect(&packet)
        for count in 0..<packet.count {
            var cut = Array(packet.prefix(count))
            #expect(throws: SecureTransportError.self) { try receiver.unprotect(&cut) }
            cut = Array(packet.prefix(count))
            #expect(throws: SecureTransportError.self) { try receiver.unprotectRTCP(&cut) }
        }
        var control = Self.rtcp
        try sender.protectRTCP(&control)
        for count in 0..<control.count {
            var cut = Array(control.prefix(count))
            #expect(throws: SecureTransportError.self) { try receiver.unprotectRTCP(&cut) }
        }
        var random = SeededRandom(seed: 5)
        for _ in 0..<2_000 {
            var changed = random.mutation(of: packet)
            if changed == packet { continue }
            // Bytes behind the payload's end can't be added, and none can be changed.
            #expect(throws: SecureTransportError.self) { try receiver.unprotect(&changed) }
            changed = random.mutation(of: packet)
            #expect(throws: SecureTransportError.self) { try receiver.unprotectRTCP(&changed) }
        }
        for count in 0..<12 {
            var short = [UInt8](repeating: 0x80, count: count)
            #expect(throws: SecureTransportError.self) { try sender.protect(&short) }
        }
        for count in 0..<8 {
            var short = [UInt8](repeating: 0x80, count: count)
            #expect(throws: SecureTransportError.malformedPacket(length: count)) { try sender.protectRTCP(&short) }
        }
        // 15 contributing sources are announced and none is there.
        var lying = [0x8F] + Self.packet(8).dropFirst().prefix(20)
        #expect(throws: SecureTransportError.self) { try sender.protect(&lying) }
    }

    @Test("a buffer with too little room behind the packet is refused")
    func buffer() throws {
        let session = try SRTPSession(keys: Self.gcm)
        var memory = Self.rtp + [UInt8](repeating: 0, count: SRTPSession.rtpRoom)
        let count = Self.rtp.count
        let written = try memory.withUnsafeMutableBytes { try session.protect($0, count: count) }
        #expect(written == count + 16)
        memory.removeLast()
        #expect(throws: SecureTransportError.malformedPacket(length: count)) {
            try memory.withUnsafeMutableBytes { try session.protect($0, count: count) }
        }
        #expect(throws: SecureTransportError.malformedPacket(length: -1)) {
            try memory.withUnsafeMutableBytes { try session.protect($0, count: -1) }
        }
    }

    @Test("a buffer with the capacity stays where it is")
    func noAllocation() throws {
        let session = try SRTPSession(keys: Self.gcm)
        var packet: [UInt8] = []
        packet.reserveCapacity(256)
        let before = packet.withUnsafeBufferPointer { $0.baseAddress }
        for number in 0..<10 {
            packet.removeAll(keepingCapacity: true)
            packet.append(contentsOf: Self.packet(number))
            try session.protect(&packet)
            try session.protectRTCP(&packet)
        }
        #expect(packet.withUnsafeBufferPointer { $0.baseAddress } == before)
    }

    @Test("a peer may send under 64 SSRCs and not under one more")
    func boundsSources() throws {
        let (sender, receiver) = (try SRTPSession(keys: Self.gcm), try SRTPSession(keys: Self.gcm))
        for source in 0..<UInt8(64) {
            var packet = Self.packet(1, source: source)
            try sender.protect(&packet)
            try receiver.unprotect(&packet)
        }
        var packet = Self.packet(1, source: 64)
        try sender.protect(&packet)
        #expect(throws: SecureTransportError.tooManySources(limit: 64)) { try receiver.unprotect(&packet) }
        packet = Self.packet(2, source: 63)
        try sender.protect(&packet)
        try receiver.unprotect(&packet)
    }

    @Test("keys of the wrong length are refused")
    func keyLengths() {
        let short = SRTPMasterKey(key: [1, 2, 3], salt: [])
        #expect(throws: SecureTransportError.self) {
            try SRTPSession(keys: SRTPKeys(profile: .aeadAES128GCM, local: short, remote: short))
        }
        #expect(throws: SecureTransportError.self) {
            try SRTPSession(keys: SRTPKeys(profile: .aeadAES128GCM, local: Self.gcm.local, remote: short))
        }
    }
}
