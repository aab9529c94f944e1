import MediaSessions
import MediaTypes
import RTP
import TestSupport
import Testing

@testable import WebRTC

struct RepairTests {
    /// One packet in twenty, and as many requests; never the stream's first packet, before which a gap can't be seen.
    private func makeLossy(_ peer: RigPeer, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var isFirst = true
        peer.link.loses = { _ in
            defer { isFirst = false }
            return !isFirst && Int.random(in: 0..<20, using: &random) == 0
        }
        var back = SeededRandom(seed: seed + 1)
        peer.losesToHost = { _ in Int.random(in: 0..<20, using: &back) == 0 }
    }

    private func share(_ rig: Rig, pictures: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for index in 0..<pictures {
            rig.publish { captured in
                index % 30 == 0
                    ? Pictures.idr(200_000, seed: UInt64(index), captured: captured)
                    : Pictures.delta(
                        Int.random(in: 100...20_000, using: &random), seed: UInt64(index), captured: captured)
            }
            rig.run(for: .milliseconds(33))
        }
        rig.run(for: .seconds(2))
    }

    @Test("with one packet in twenty lost, a viewer with RTX gets every picture whole", arguments: [1, 2] as [UInt64])
    func lossWithRetransmission(seed: UInt64) throws {
        let rig = try Rig()
        let peer = try rig.join()
        makeLossy(peer, seed: seed)
        share(rig, pictures: 60, seed: seed)
        #expect(peer.wholePictures == rig.published.map(\.contents))
        #expect(peer.viewer.pictures.count == 60)
        let lost = peer.link.media.filter(\.isLost).count
        #expect(lost > 20)
        let resent = peer.link.media.filter { $0.ssrc == peer.viewer.settings.retransmission?.rawValue }
        #expect(resent.count >= lost / 2)
        #expect(peer.session.statistics.retransmittedPackets == resent.count)
        #expect(peer.session.statistics.framesSent == 60)
        #expect(peer.viewer.strangeDatagrams == 0)
    }

    @Test("a viewer that reports loss gets each retransmission twice, 5 ms apart", arguments: [0, 26] as [UInt8])
    func secondCopies(fractionLost: UInt8) throws {
        let rig = try Rig()
        let peer = try rig.join(hasTransportNumbers: true)
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(3))
        peer.viewer.report(fractionLost: fractionLost, now: rig.now)
        rig.run(for: .milliseconds(20))
        var count = 0
        peer.link.loses = { _ in
            count += 1
            return count == 3
        }
        rig.publish { Pictures.delta(15_000, seed: 7, captured: $0) }
        rig.run(for: .milliseconds(300))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        let resent = peer.link.media.filter { $0.ssrc == peer.viewer.settings.retransmission?.rawValue }
        #expect(resent.count == (fractionLost == 0 ? 1 : 2))
        if let first = resent.first, let last = resent.last, resent.count == 2 {
            #expect(last.time - first.time == RetransmissionDuplicator.spacing)
        }
    }

    @Test("without RTX lost packets go again, byte for byte what was sent first", arguments: [3, 4] as [UInt64])
    func lossWithoutRetransmission(seed: UInt64) throws {
        let rig = try Rig()
        let peer = try rig.join(hasRetransmission: false)
        makeLossy(peer, seed: seed)
        share(rig, pictures: 60, seed: seed)
        #expect(peer.wholePictures == rig.published.map(\.contents))
        var first: [UInt16: [UInt8]] = [:]
        var repeats = 0
        for packet in peer.link.media {
            #expect(packet.ssrc == peer.viewer.settings.media.rawValue)
            if let before = first[packet.sequenceNumber] {
                #expect(packet.datagram == before, "the nonce of \(packet.sequenceNumber) was used for two texts")
                repeats += 1
            } else {
                first[packet.sequenceNumber] = packet.datagram
            }
        }
        #expect(repeats > 20)
        #expect(peer.session.statistics.retransmittedPackets == 0)
    }

    @Test(
        "the lost end of a picture that nothing follows is repaired by the tail probe",
        arguments: [(true, 15_000), (true, 2_000), (true, 300), (false, 15_000), (false, 300)])
    func tailLoss(hasRetransmission: Bool, byteCount: Int) throws {
        let rig = try Rig()
        let peer = try rig.join(hasRetransmission: hasRetransmission)
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(3))
        var isLost = false
        peer.link.loses = { packet in
            guard packet.isMarked, !isLost else { return false }
            isLost = true
            return true
        }
        let start = rig.now
        rig.publish { Pictures.delta(byteCount, seed: 7, captured: $0) }
        rig.run(for: .milliseconds(150))
        #expect(isLost)
        #expect(peer.wholePictures == rig.published.map(\.contents))
        let arrival = try #require(peer.viewer.pictures.last?.time)
        #expect(arrival - start < .milliseconds(80))
    }

    @Test("the last two pictures of a motion are repaired though both were lost", arguments: [true, false])
    func lastTwoLost(hasRetransmission: Bool) throws {
        let rig = try Rig()
        let peer = try rig.join(hasRetransmission: hasRetransmission)
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(3))
        var losses = 2
        for seed in 1...4 {
            if seed == 3 {
                peer.link.loses = { _ in
                    losses -= 1
                    return losses >= 0
                }
            }
            rig.publish { Pictures.delta(400, seed: UInt64(seed), captured: $0) }
            rig.run(for: .milliseconds(16))
        }
        rig.run(for: .milliseconds(250))
        #expect(losses < 0)
        #expect(peer.wholePictures == rig.published.map(\.contents))
    }

    @Test("a picture is probed for twice at most, and not at all once the viewer has reported its last packet")
    func probesEnd() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(20_000, captured: $0) }
        rig.run(for: .seconds(3))
        let packets = peer.link.media.count
        rig.publish { Pictures.delta(15_000, seed: 7, captured: $0) }
        let count = peer.link.media.count - packets
        rig.run(for: .seconds(3))
        #expect(peer.link.media.count - packets == count + 2)

        let before = peer.link.media.count
        rig.publish { Pictures.delta(15_000, seed: 8, captured: $0) }
        rig.run(for: .milliseconds(6))
        peer.viewer.report(now: rig.now)
        rig.run(for: .seconds(3))
        #expect(peer.link.media.count - before == count)
    }

    @Test("a large picture on its way is not taken for a pause")
    func noProbeWithinPicture() throws {
        let rig = try Rig()
        let peer = try rig.join()
        rig.publish { Pictures.idr(2_000, captured: $0) }
        rig.publish { Pictures.idr(600_000, seed: 2, captured: $0) }
        rig.run(for: .milliseconds(60))
        #expect(!peer.viewer.packets.contains { $0.isRetransmission || $0.rtp.payload.isEmpty })
        rig.run(for: .milliseconds(200))
        #expect(peer.wholePictures == rig.published.map(\.contents))
        #expect(peer.viewer.packets.contains { $0.rtp.payload.isEmpty })
    }
}
