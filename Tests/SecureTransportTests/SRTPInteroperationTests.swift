import SecureTransport
import TestSupport
import Testing

/// Our SRTP and libsrtp's, in both directions, with packets of every shape in any order.
@Suite("SRTP beside libsrtp")
struct SRTPInteroperationTests {
    /// Keys that both sides have, one pair for each direction: what we send, libsrtp receives.
    private static func keys(
        _ profile: SRTPProfile, _ random: inout SeededRandom
    ) -> (ours: SRTPKeys, theirs: SRTPKeys) {
        func master() -> SRTPMasterKey {
            SRTPMasterKey(
                key: randomBytes(profile.keyCount, &random), salt: randomBytes(profile.saltCount, &random))
        }
        let (first, second) = (master(), master())
        return (
            SRTPKeys(profile: profile, local: first, remote: second),
            SRTPKeys(profile: profile, local: second, remote: first)
        )
    }

    private static func randomBytes(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// The one RTP packet that `source` sends under `index`, with contributing sources, extension and padding at
    /// random.
    private static func packet(source: UInt32, index: Int) -> [UInt8] {
        var random = SeededRandom(seed: UInt64(source) << 32 | UInt64(index))
        let contributors = Bool.random(using: &random) ? Int.random(in: 0...15, using: &random) : 0
        let hasExtension = Bool.random(using: &random)
        let extensionWords = hasExtension ? Int.random(in: 0...20, using: &random) : 0
        var packet = [0x80 | (hasExtension ? 0x10 : 0) | UInt8(contributors)]
        packet += [UInt8.random(in: .min ... .max, using: &random), UInt8(index >> 8 & 255), UInt8(index & 255)]
        packet += randomBytes(4, &random)
        packet += (0..<4).map { UInt8(truncatingIfNeeded: source >> (24 - 8 * $0)) }
        packet += randomBytes(4 * contributors, &random)
        if hasExtension { packet += [0xBE, 0xDE, 0, UInt8(extensionWords)] + randomBytes(4 * extensionWords, &random) }
        return packet + randomBytes(Int.random(in: 0...300, using: &random), &random)
    }

    private static func controlPacket(source: UInt32, _ random: inout SeededRandom) -> [UInt8] {
        [0x80, 200, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: source >> (24 - 8 * $0)) }
            + randomBytes(Int.random(in: 4...400, using: &random), &random)
    }

    private static let sources: [UInt32] = [0, 1, 0xCAFE_BABE, .max]

    @Test(
        "both protect the same packets to the same bytes, through jumps, repetitions and roll-overs",
        arguments: SRTPProfile.allCases)
    func samePackets(profile: SRTPProfile) throws {
        var random = SeededRandom(seed: 11)
        let keys = Self.keys(profile, &random)
        let ours = try SRTPSession(keys: keys.ours)
        let theirs = try #require(LibsrtpSession(keys: keys.ours))
        // Each source's next index. Steps are mostly small; 150 of up to 30,000 make the numbers roll over often.
        var next = Self.sources.map { _ in Int.random(in: 0..<0x8000, using: &random) }
        var refused = 0
        for step in 0..<3_000 {
            let source = Int.random(in: 0..<Self.sources.count, using: &random)
            if step % 20 == 0 { next[source] += Int.random(in: 0...30_000, using: &random) }
            let back = step % 7 == 0 ? Int.random(in: 0...9_000, using: &random) : 0
            let packet = Self.packet(source: Self.sources[source], index: max(0, next[source] - back))
            var protected = packet
            let isProtected = (try? ours.protect(&protected)) != nil
            #expect(theirs.protect(packet) == (isProtected ? protected : nil))
            if !isProtected { refused += 1 }
            next[source] += 1
            let control = Self.controlPacket(source: Self.sources[source], &random)
            protected = control
            try ours.protectRTCP(&protected)
            #expect(theirs.protectRTCP(control) == protected)
        }
        #expect(refused > 10)
        #expect(next.allSatisfy { $0 > 0x2_0000 })
    }

    /// What a network makes of a stream: packets that are late, lost, doubled or changed.
    private static func network(_ packets: [[UInt8]], delay: Int, _ random: inout SeededRandom) -> [[UInt8]] {
        var arrivals: [(time: Int, packet: [UInt8])] = []
        for (time, packet) in packets.enumerated() {
            let copies = [0, 1, 1, 1, 1, 1, 1, 2][Int.random(in: 0..<8, using: &random)]
            for _ in 0..<copies {
                arrivals.append((time + Int.random(in: 0...delay, using: &random), packet))
            }
            if Int.random(in: 0..<8, using: &random) == 0 { arrivals.append((time, random.mutation(of: packet))) }
        }
        return arrivals.sorted { $0.time < $1.time }.map(\.packet)
    }

    @Test(
        "we accept what libsrtp accepts of late, lost, repeated and changed packets, and libsrtp what we accept",
        arguments: SRTPProfile.allCases)
    func sameVerdicts(profile: SRTPProfile) throws {
        var random = SeededRandom(seed: 12)
        let keys = Self.keys(profile, &random)
        let ours = try SRTPSession(keys: keys.ours)
        let theirs = try #require(LibsrtpSession(keys: keys.theirs))
        let theirTwin = try #require(LibsrtpSession(keys: keys.ours))
        let ourTwin = try SRTPSession(keys: keys.theirs)
        var next = Self.sources.map { _ in Int.random(in: 0..<0x8000, using: &random) }
        var (fromUs, fromThem): ([[UInt8]], [[UInt8]]) = ([], [])
        for step in 0..<2_000 {
            let source = Int.random(in: 0..<Self.sources.count, using: &random)
            if step % 100 == 0 { next[source] += Int.random(in: 0...30_000, using: &random) }
            let packet = Self.packet(source: Self.sources[source], index: next[source])
            next[source] += 1
            var protected = packet
            try ours.protect(&protected)
            fromUs.append(protected)
            fromThem.append(try #require(theirs.protect(packet)))
        }
        // Late by up to 300 packets of four sources: within the replay window at times, and behind it after a jump.
        for (packets, receiver, twin) in [(fromThem, ours, theirTwin), (fromUs, ourTwin, theirs)] {
            var accepted = 0
            for packet in Self.network(packets, delay: 300, &random) {
                var plain = packet
                let isAccepted = (try? receiver.unprotect(&plain)) != nil
                #expect(twin.unprotect(packet) == (isAccepted ? plain : nil))
                if isAccepted { accepted += 1 }
            }
            #expect(accepted > 1_000)
        }
    }

    @Test("SRTCP passes in both directions, late, lost, repeated and changed", arguments: SRTPProfile.allCases)
    func controlPackets(profile: SRTPProfile) throws {
        var random = SeededRandom(seed: 13)
        let keys = Self.keys(profile, &random)
        let ours = try SRTPSession(keys: keys.ours)
        let theirs = try #require(LibsrtpSession(keys: keys.theirs))
        let plain = (0..<1_000).map { _ in
            Self.controlPacket(source: Self.sources[Int.random(in: 0..<4, using: &random)], &random)
        }
        let fromUs = try plain.map {
            var packet = $0
            try ours.protectRTCP(&packet)
            return packet
        }
        let fromThem = try plain.map { try #require(theirs.protectRTCP($0)) }
        let (ourTwin, theirTwin) = (try SRTPSession(keys: keys.theirs), try #require(LibsrtpSession(keys: keys.ours)))
        // libsrtp remembers the last 128 packets of a source.
        for (packets, receiver, twin) in [(fromThem, ours, theirTwin), (fromUs, ourTwin, theirs)] {
            for packet in Self.network(packets, delay: 100, &random) {
                var opened = packet
                let isAccepted = (try? receiver.unprotectRTCP(&opened)) != nil
                #expect(twin.unprotectRTCP(packet) == (isAccepted ? opened : nil))
                if isAccepted { #expect(plain.contains(opened)) }
            }
        }
    }
}
