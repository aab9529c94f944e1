import TestSupport
import Testing

@testable import SecureTransport

@Suite("SRTP's packet indices")
struct ReplayWindowTests {
    @Test(
        "the index is the one closest to the newest, with the roll-over counter before, now or after",
        arguments: [
            (0, nil, 0), (0xFFFF, nil, 0xFFFF), (0x8000, nil, 0x8000),
            (1, 0xFFFF, 0x1_0001), (0xFFFF, 0x1_0001, 0xFFFF), (0xFFFE, 0x5_0000, 0x4_FFFE),
            (0, 0x1_8000, 0x1_0000), (0, 0x1_8001, 0x2_0000), (0x8000, 0x3_0000, 0x3_8000),
            (0x8001, 0x3_0000, 0x2_8001),
            (0x7FFF, 0x3_FFFF, 0x3_7FFF), (0x7FFE, 0x3_FFFF, 0x4_7FFE),
            // There is no index below 0.
            (0xFFFF, 0, 0xFFFF), (0x9000, 5, 0x9000),
        ] as [(UInt16, UInt64?, UInt64)])
    func estimate(sequenceNumber: UInt16, newest: UInt64?, index: UInt64) {
        #expect(PacketIndex.estimate(sequenceNumber, newest: newest) == index)
    }

    @Test("each of 5,000 random indices is admitted as a list of all that came would admit it")
    func window() {
        var random = SeededRandom(seed: 3)
        var window = ReplayWindow()
        var seen: Set<UInt64> = []
        var newest: UInt64 = 5_000
        for _ in 0..<5_000 {
            let jump =
                UInt64.random(in: 0..<100, using: &random) == 0 ? UInt64.random(in: 0...3_000, using: &random) : 2
            let index = newest + jump - min(newest, UInt64.random(in: 0...1_100, using: &random))
            let isNew = !seen.contains(index) && (seen.isEmpty || index + 1_024 > (seen.max() ?? 0))
            #expect(window.admits(index) == isNew)
            guard isNew else { continue }
            window.note(index)
            seen.insert(index)
            newest = max(newest, index)
            #expect(window.newest == seen.max())
        }
        #expect(seen.count > 1_000)
    }

    @Test("a key protects 2^48 RTP packets of a source and not one more")
    func packetLimit() throws {
        var sent = SentSource(ssrc: 1, newest: PacketIndex.limit - 2)
        #expect(try sent.index(of: 0xFFFF) == PacketIndex.limit - 1)
        #expect(throws: SecureTransportError.keyLifetimeReached) { try sent.index(of: 0) }
        #expect(try sent.index(of: 0xFFFF) == PacketIndex.limit - 1, "the last one may be repeated")
        var received = ReceivedSource(ssrc: 1)
        received.packets.note(PacketIndex.limit - 1)
        #expect(throws: SecureTransportError.keyLifetimeReached) { try received.index(of: 0) }
    }

    @Test("a key protects 2^31 RTCP packets of a source and not one more")
    func controlPacketLimit() throws {
        var sent = SentSource(ssrc: 1, controlIndex: 0x7FFF_FFFE)
        #expect(try sent.nextControlIndex() == 0x7FFF_FFFF)
        #expect(throws: SecureTransportError.keyLifetimeReached) { try sent.nextControlIndex() }
    }

    @Test("a packet 8,192 behind the newest sent is not sent again, one less far behind is")
    func sendWindow() throws {
        var sent = SentSource(ssrc: 1)
        #expect(try sent.index(of: 20_000) == 20_000)
        #expect(try sent.index(of: 11_809) == 11_809)
        #expect(throws: SecureTransportError.replayed) { try sent.index(of: 11_808) }
        #expect(sent.newest == 20_000)
    }
}
