import MediaSessions
import MediaTypes
import RTP
import STUN
import SecureTransport
import TestSupport
import Testing

@testable import WebRTC

struct PublishingTests {
    func share(_ rig: PublishingRig, pictures: Int, idrEvery: Int = 30, seed: UInt64 = 1) {
        var random = SeededRandom(seed: seed)
        for index in 0..<pictures {
            rig.publish { captured in
                index % idrEvery == 0
                    ? Pictures.idr(60_000, seed: UInt64(index), captured: captured)
                    : Pictures.delta(
                        Int.random(in: 100...9000, using: &random), seed: UInt64(index), captured: captured)
            }
            rig.run(for: .milliseconds(33))
        }
    }

    private func count(_ rig: PublishingRig, _ isWanted: (RTCPPacket) -> Bool) -> Int {
        rig.publisher.feedback.count(where: isWanted)
    }

    private func lossIndications(_ rig: PublishingRig) -> Int {
        count(rig) { if case .pictureLossIndication = $0 { true } else { false } }
    }

    @Test(
        "every picture comes as it was sent, with the time that it was taken, whichever side begins DTLS",
        arguments: [false, true])
    func whole(isDTLSClient: Bool) throws {
        let rig = try PublishingRig(isDTLSClient: isDTLSClient)
        share(rig, pictures: 60)
        #expect(rig.collector.contents == rig.published.map(\.contents))
        #expect(lossIndications(rig) == 0)
        let times = rig.collector.units.map(\.captureTime)
        for (index, unit) in rig.collector.units.enumerated() {
            #expect(unit.captureTime <= unit.arrival)
            guard index > 5, let taken = rig.published[index].captureTime else { continue }
            // The quickest way here counts in, and the large IDR pictures took longer.
            let off = times[index] - taken
            #expect(off > .milliseconds(4) && off < .milliseconds(12), "\(off)")
        }
        rig.run(for: .seconds(1))
        #expect(rig.publisher.sender?.track.roundTripTime.map { $0 < .milliseconds(12) } == true)
    }

    @Test(
        "over a link that loses 3 % both ways, what is missing is asked for and every picture comes",
        arguments: [UInt64](1...3))
    func repaired(seed: UInt64) throws {
        let rig = try PublishingRig()
        share(rig, pictures: 1)
        var random = SeededRandom(seed: seed)
        rig.losesToHost = { _ in Int.random(in: 0..<100, using: &random) < 3 }
        rig.losesToPublisher = { _ in Int.random(in: 0..<100, using: &random) < 3 }
        share(rig, pictures: 60, seed: seed)
        rig.losesToHost = { _ in false }
        share(rig, pictures: 2)
        rig.run(for: .seconds(1))
        #expect(rig.collector.contents == rig.published.map(\.contents))
        #expect(count(rig) { if case .genericNack = $0 { true } else { false } } > 5)
    }

    @Test("a picture with a gap that can't be closed is left out, and what needs it, up to the IDR that is asked for")
    func broken() throws {
        let rig = try PublishingRig(answersNacks: false)
        share(rig, pictures: 10)
        var losses = 1
        rig.losesToHost = { datagram in
            guard losses > 0, DatagramKind(of: datagram) == .rtp else { return false }
            losses -= 1
            return true
        }
        share(rig, pictures: 30, idrEvery: 100, seed: 2)
        rig.run(for: .seconds(1))
        #expect(lossIndications(rig) >= 1)
        #expect(rig.collector.ignored == 0)
        let units = rig.collector.units
        // The sender starts again at its last IDR, which is the first picture of this share.
        #expect(units.last?.nalUnits == rig.published.last?.contents)
        let restart = try #require(units.lastIndex { $0.isRandomAccess })
        #expect(restart >= 10)
        #expect(units.suffix(from: restart).map(\.nalUnits) == rig.published.suffix(30).map(\.contents))
        #expect(count(rig) { if case .genericNack = $0 { true } else { false } } == 0)
    }

    @Test("who makes no IDR when asked is found out after 2 s, and its pictures go on with what they lack")
    func ignored() throws {
        let rig = try PublishingRig()
        rig.publisher.answersFeedback = false
        share(rig, pictures: 3)
        rig.session.requestKeyFrame(now: rig.now)
        share(rig, pictures: 50, idrEvery: 100)
        // The share began with an IDR, though nobody had been asked for it by then.
        #expect(rig.collector.ignored == 0)
        rig.session.requestKeyFrame(now: rig.now)
        for index in 0..<80 {
            rig.publish { Pictures.delta(300, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
        }
        #expect(rig.collector.ignored == 1)
        #expect((4...6).contains(lossIndications(rig)))

        let before = rig.collector.units.count
        var losses = 1
        rig.losesToHost = { datagram in
            guard losses > 0, DatagramKind(of: datagram) == .rtp else { return false }
            losses -= 1
            return true
        }
        for index in 0..<100 {
            rig.publish { Pictures.delta(300, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
        }
        let passed = rig.collector.units.count - before
        #expect((20...40).contains(passed), "\(passed)")
        #expect(rig.collector.units.last?.nalUnits == rig.published.last?.contents)
    }

    /// Nothing passes for `interval`, either way, and nothing is sent.
    private func breakOff(_ rig: PublishingRig, for interval: Interval) {
        rig.losesToHost = { _ in true }
        rig.losesToPublisher = { _ in true }
        rig.run(for: interval)
        rig.losesToHost = { _ in false }
        rig.losesToPublisher = { _ in false }
    }

    private func shareDeltas(_ rig: PublishingRig, _ count: Int) {
        for index in 0..<count {
            rig.publish { Pictures.delta(300, seed: UInt64(index), captured: $0) }
            rig.run(for: .milliseconds(33))
        }
    }

    @Test("an outage doesn't count as ignoring what was asked; ignoring it for 2 s behind it does")
    func outage() throws {
        let rig = try PublishingRig()
        share(rig, pictures: 3)
        rig.publisher.answersFeedback = false
        rig.session.requestKeyFrame(now: rig.now)
        breakOff(rig, for: .seconds(5))
        #expect(lossIndications(rig) == 0)
        shareDeltas(rig, 15)
        #expect(lossIndications(rig) >= 1, "it is asked again")
        #expect(rig.collector.ignored == 0)
        #expect(rig.collector.units.last?.nalUnits == rig.published.last?.contents)
        shareDeltas(rig, 50)
        #expect(rig.collector.ignored == 1)
    }

    @Test("an outage is no reason to show what lacks a picture: the IDR that is asked for still comes first")
    func outageBehindLoss() throws {
        let rig = try PublishingRig(answersNacks: false)
        share(rig, pictures: 3)
        rig.publisher.answersFeedback = false
        rig.losesToHost = { DatagramKind(of: $0) == .rtp }
        shareDeltas(rig, 1)
        rig.losesToHost = { _ in false }
        shareDeltas(rig, 20)
        let before = rig.collector.units.count
        #expect(before < rig.published.count - 1, "what needs the lost picture is left out")
        breakOff(rig, for: .seconds(5))
        shareDeltas(rig, 15)
        #expect(rig.collector.units.count == before)
        rig.publisher.answersFeedback = true
        // It starts again at its last IDR, and goes on to the present.
        shareDeltas(rig, 15)
        #expect(rig.collector.ignored == 0)
        #expect(rig.collector.units[before].isRandomAccess)
        #expect(rig.collector.units.last?.nalUnits == rig.published.last?.contents)
    }

    @Test("who has said that it can't be asked for an IDR never is, and nothing comes before its first")
    func notAsked() throws {
        let rig = try PublishingRig(answersKeyFrameRequests: false)
        for index in 0..<100 {
            rig.publisher.send(
                RTPPacketHeader(
                    marker: true, payloadType: TestPublisher.payloadType,
                    sequenceNumber: SequenceNumber(0).advanced(by: index),
                    timestamp: RTPTimestamp(UInt32(index) * 3000), ssrc: TestPublisher.ssrc), [0x41, 1, 2, 3])
            rig.run(for: .milliseconds(33))
        }
        rig.session.requestKeyFrame(now: rig.now)
        rig.run(for: .seconds(1))
        #expect(rig.collector.units.isEmpty)
        #expect(lossIndications(rig) == 0)
        #expect(count(rig) { if case .receiverReport = $0 { true } else { false } } >= 3)
    }

    @Test("a publisher is gone after 10 s without a check or a packet, and not before")
    func silence() throws {
        let rig = try PublishingRig()
        share(rig, pictures: 3)
        rig.losesToHost = { DatagramKind(of: $0) != .stun }
        for _ in 0..<4 {
            rig.run(for: .seconds(8))
            #expect(rig.session.end == nil)
            rig.publisher.check()
        }
        rig.losesToHost = { _ in true }
        rig.run(for: .seconds(11))
        #expect(rig.session.end == .other("the peer has been silent for 10 s"))
    }

    @Test("media alone keeps a session that checks no more, sound too, which comes as it was sent")
    func mediaAlone() throws {
        let rig = try PublishingRig()
        rig.losesToHost = { DatagramKind(of: $0) != .rtp }
        for index in 0..<60 {
            // What isn't agreed on is proof of life all the same.
            for (type, ssrc) in index < 30 ? [(111, 77), (112, 78)] : [(112, 78)] as [(UInt8, UInt32)] {
                rig.publisher.send(
                    RTPPacketHeader(
                        marker: false, payloadType: PayloadType(type),
                        sequenceNumber: SequenceNumber(0).advanced(by: index),
                        timestamp: RTPTimestamp(UInt32(index) * 48_000), ssrc: SSRC(ssrc)), [0xFC, UInt8(index)])
            }
            rig.run(for: .seconds(1))
        }
        #expect(rig.session.end == nil)
        #expect(rig.collector.units.map(\.codec) == Array(repeating: .opus, count: 30))
        #expect(rig.collector.contents == (0..<30).map { [[0xFC, $0]] })
    }

    @Test("a goodbye by DTLS ends the session at once")
    func goodbye() throws {
        let rig = try PublishingRig()
        share(rig, pictures: 3)
        rig.publisher.close()
        rig.run(for: .milliseconds(50))
        #expect(rig.session.end == .byPeer)
    }

    @Test("another stream of the same payload type takes over once the first has been silent for a second")
    func secondStream() throws {
        let rig = try PublishingRig()
        share(rig, pictures: 3)
        func send(_ number: Int) {
            let header = RTPPacketHeader(
                marker: true, payloadType: TestPublisher.payloadType,
                sequenceNumber: SequenceNumber(500).advanced(by: number), timestamp: RTPTimestamp(UInt32(number)),
                ssrc: SSRC(12))
            rig.publisher.send(header, [0x65, UInt8(number)])
            rig.run(for: .milliseconds(20))
        }
        send(0)
        #expect(rig.collector.units.count == 3)
        rig.losesToHost = { DatagramKind(of: $0) != .rtp || $0[11] != 12 }
        rig.run(for: .seconds(1))
        send(1)
        #expect(rig.collector.contents.last == [[0x65, 1]])
    }

    @Test("packets of any content, rightly encrypted, are never trapped on")
    func garbage() throws {
        let rig = try PublishingRig()
        var random = SeededRandom(seed: 9)
        var number = 0
        for _ in 0..<6000 {
            number += Int.random(in: 0..<30, using: &random) == 0 ? Int.random(in: 2..<5000, using: &random) : 1
            let kinds: [[UInt8]] = [
                [0x65, 1, 2], [0x41, 1], [0x7C, 0x85, 1, 2], [0x7C, 0x05, 3], [0x7C, 0x45, 4],
                [0x78, 0, 2, 0x67, 1, 0, 1, 0x68],
                [], [0],
            ]
            let payload = random.mutation(of: kinds.randomElement(using: &random) ?? [])
            rig.publisher.send(
                RTPPacketHeader(
                    marker: Bool.random(using: &random), payloadType: TestPublisher.payloadType,
                    sequenceNumber: SequenceNumber(0).advanced(by: number),
                    timestamp: RTPTimestamp(UInt32.random(in: 0..<3, using: &random) &* 2_000_000_000),
                    ssrc: TestPublisher.ssrc), payload)
            rig.run(for: .milliseconds(Int64.random(in: 0..<20, using: &random)))
        }
        #expect(rig.session.end == nil)
        #expect(rig.collector.units.allSatisfy { !$0.nalUnits.contains { $0.isEmpty } })
        share(rig, pictures: 5)
        rig.run(for: .seconds(1))
    }
}
