import MediaSessions
import MediaTypes
import RTP
import Testing

@testable import WebRTC

@Suite("Sound for a viewer who loses packets")
struct RedundantSoundTests {
    /// The stream of the rig's second track.
    private static let sound = SSRC(0x1122_3444)

    private func packets(at peer: RigPeer) -> [RTPPacket] {
        peer.viewer.packets.map(\.rtp).filter { $0.header.ssrc == Self.sound }
    }

    private func payloadTypes(at peer: RigPeer) -> [UInt8] { packets(at: peer).map(\.header.payloadType.rawValue) }

    /// Reports on the sound. The host has the report 5 ms later.
    private func report(at peer: RigPeer, fractionLost: UInt8 = 0, lost: Int32 = 0) {
        let highest = packets(at: peer).last.map { UInt32($0.header.sequenceNumber.rawValue) } ?? 0
        let reception = ReceptionReport(
            ssrc: Self.sound, fractionLost: fractionLost, cumulativeLost: lost, highestSequenceNumber: highest)
        peer.viewer.send(.receiverReport(ReceiverReport(ssrc: SSRC(1), receptionReports: [reception])))
    }

    @Test(
        "after a reported loss, each packet also has the frame before, until 10 s have passed without another",
        arguments: [(3, 1), (3, 0), (0, 1)] as [(UInt8, Int32)])
    func redundancy(fractionLost: UInt8, lost: Int32) throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join(red: 63)
        rig.publish { Pictures.idr(5_000, captured: $0) }
        rig.play(5)
        report(at: peer, fractionLost: fractionLost, lost: lost)
        rig.play(500)
        // Nothing was lost since.
        report(at: peer, lost: lost)
        rig.play(510)
        let frames = rig.tracks[1].published.flatMap(\.contents)
        let packets = packets(at: peer)
        // Frames come every 10 ms, the report came between the sixth and the seventh.
        let redundant = 6..<1006
        // 480 ticks earlier, 160 bytes.
        let headers: [UInt8] = [0xEF, 0x07, 0x80, 0xA0, 0x6F]
        var expected: [[UInt8]] = []
        for (index, frame) in frames.enumerated() {
            expected.append(redundant.contains(index) ? headers + frames[index - 1] + frame : frame)
        }
        #expect(packets.map { Array($0.payload) } == expected)
        let types: [UInt8] = frames.indices.map { redundant.contains($0) ? 63 : 111 }
        #expect(payloadTypes(at: peer) == types)
        let steps = zip(packets, packets.dropFirst()).map { ($0.header, $1.header) }
        #expect(steps.allSatisfy { $0.sequenceNumber.next == $1.sequenceNumber })
        #expect(steps.allSatisfy { $0.timestamp.distance(to: $1.timestamp) == 480 })
        #expect(peer.session.statistics.sentSoundPackets == frames.count)
    }

    @Test("a viewer who has lost nothing gets each frame once, and so does one who has but takes no RED")
    func plain() throws {
        let rig = try Rig(hasSound: true)
        let lossless = try rig.join(red: 63)
        let lossy = try rig.join()
        rig.play(5)
        report(at: lossless)
        report(at: lossy, fractionLost: 30, lost: 2)
        rig.play(20)
        let frames = rig.tracks[1].published.flatMap(\.contents)
        for peer in [lossless, lossy] {
            #expect(packets(at: peer).map { Array($0.payload) } == frames)
            #expect(Set(payloadTypes(at: peer)) == [111])
        }
        #expect(lossy.session.statistics.lostPackets == 2)
    }

    @Test("nothing is repeated after a silence, nor after sound that fits into no packet")
    func gaps() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join(red: 63)
        rig.play(3)
        report(at: peer, fractionLost: 3, lost: 1)
        rig.play(3)
        rig.run(for: .seconds(1))
        rig.play(2)
        rig.play(1, byteCount: RTPPayload.maxByteCount + 1)
        rig.play(2)
        #expect(payloadTypes(at: peer) == [111, 111, 111, 111, 63, 63, 111, 63, 111, 63])
        let markers = packets(at: peer).map(\.header.marker)
        #expect(markers == (0..<10).map { $0 == 0 || $0 == 6 })
    }

    @Test("a lost packet is sent again with the same bytes when it is asked for")
    func repeats() throws {
        let rig = try Rig(hasSound: true)
        let peer = try rig.join(red: 63)
        rig.play(3)
        report(at: peer, fractionLost: 3, lost: 1)
        rig.play(5)
        let packet = packets(at: peer)[5]
        #expect(packet.header.payloadType == PayloadType(63))
        let lost = packet.header.sequenceNumber
        peer.viewer.send(
            .genericNack(GenericNack(sender: SSRC(1), media: Self.sound, sequenceNumbers: [lost])))
        rig.run(for: .milliseconds(20))
        let sent = peer.link.media.filter { $0.ssrc == Self.sound.rawValue && $0.sequenceNumber == lost.rawValue }
        #expect(sent.count == 2 && Set(sent.map(\.datagram)).count == 1)
        #expect(payloadTypes(at: peer).last == 63)
    }
}
