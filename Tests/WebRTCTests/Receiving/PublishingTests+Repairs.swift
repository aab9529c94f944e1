import MediaTypes
import RTP
import STUN
import TestSupport
import Testing

@testable import WebRTC

extension PublishingTests {
    private static let rtx = PayloadType(97)

    /// A publisher that has agreed to RTX or to RTCP of reduced size.
    private func rig(hasRTX: Bool = false, hasReducedSizeRTCP: Bool = false) throws -> PublishingRig {
        try PublishingRig(rtxPayloadType: hasRTX ? Self.rtx : nil) { offer in
            var offer = offer
            if hasRTX {
                offer = offer.replacing("SAVPF 96\r\n", with: "SAVPF 96 97\r\n").replacing(
                    "a=rtpmap:96 ", with: "a=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96\r\na=rtpmap:96 ")
            }
            return hasReducedSizeRTCP
                ? offer.replacing("a=rtcp-mux\r\n", with: "a=rtcp-mux\r\na=rtcp-rsize\r\n") : offer
        }
    }

    @Test(
        "what is lost is repaired by RTX where that is agreed on, asked for with a NACK that is alone in its datagram")
    func retransmissions() throws {
        let rig = try rig(hasRTX: true, hasReducedSizeRTCP: true)
        share(rig, pictures: 1)
        var random = SeededRandom(seed: 5)
        var retransmissions = 0
        rig.losesToHost = { datagram in
            let isRTP = DatagramKind(of: datagram) == .rtp
            if isRTP, datagram[1] & 0x7F == Self.rtx.rawValue { retransmissions += 1 }
            return isRTP && Int.random(in: 0..<100, using: &random) < 5
        }
        share(rig, pictures: 60)
        rig.losesToHost = { _ in false }
        share(rig, pictures: 2)
        rig.run(for: .seconds(1))
        #expect(rig.collector.contents == rig.published.map(\.contents))
        #expect(retransmissions > 10)
        let requests = rig.publisher.reports.filter {
            $0.contains { if case .genericNack = $0 { true } else { false } }
        }
        #expect(requests.count > 10 && requests.allSatisfy { $0.count == 1 })
    }

    @Test("without reduced size, a NACK follows a report in its datagram")
    func wholeReports() throws {
        let rig = try rig()
        share(rig, pictures: 1)
        var losses = 1
        rig.losesToHost = { datagram in
            guard losses > 0, DatagramKind(of: datagram) == .rtp else { return false }
            losses -= 1
            return true
        }
        share(rig, pictures: 5)
        rig.run(for: .seconds(1))
        #expect(rig.collector.contents == rig.published.map(\.contents))
        let request = try #require(
            rig.publisher.reports.first { $0.contains { if case .genericNack = $0 { true } else { false } } })
        guard case .receiverReport = request[0] else {
            Issue.record("\(request)")
            return
        }
    }

    @Test(
        "the arrivals of numbered packets are reported to a publisher that has agreed to that, every 50 ms",
        arguments: [true, false])
    func arrivals(isAgreed: Bool) throws {
        let uri = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
        let agreement = "a=extmap:4 \(uri)\r\na=rtcp-fb:96 transport-cc\r\na=rtcp-fb:96 nack\r\n"
        let rig = try PublishingRig { offer in
            isAgreed ? offer.replacing("a=rtcp-fb:96 nack\r\n", with: agreement) : offer
        }
        rig.publisher.answersFeedback = false
        for number in UInt8(0)..<100 {
            // The host reads two packets at a time.
            rig.wait = number.isMultiple(of: 2) ? .milliseconds(5) : .zero
            // The packet 40 is lost.
            if number != 40 {
                rig.publisher.send(
                    RTPPacketHeader(
                        marker: true, payloadType: TestPublisher.payloadType,
                        sequenceNumber: SequenceNumber(UInt16(number)),
                        timestamp: RTPTimestamp(UInt32(number) * 450), ssrc: TestPublisher.ssrc), [0x65, number],
                    transportNumber: number)
            }
            rig.run(for: .milliseconds(5))
        }
        rig.run(for: .milliseconds(200))
        var reports = 0
        var received: [Bool] = []
        for case .transportFeedback(let report) in rig.publisher.feedback {
            reports += 1
            received += report.arrivals.map { $0 != .notReceived }
            var deltas: [Int16] = []
            for case .received(let delta) in report.arrivals { deltas.append(delta) }
            // They arrived every 5 ms, in units of 250 µs.
            #expect(deltas.dropFirst().allSatisfy { $0 == 20 || $0 == 40 }, "\(deltas)")
        }
        #expect(isAgreed ? (8...12).contains(reports) : reports == 0, "\(reports) reports on half a second")
        #expect(received == (isAgreed ? (0..<100).map { $0 != 40 } : []))
    }

    @Test("the jitter in reports is the path's, even if the host reads two packets at a time")
    func jitter() throws {
        let rig = try rig()
        rig.publisher.answersFeedback = false
        // A packet every 5 ms, for a second.
        for number in UInt8(0)..<200 {
            rig.wait = number.isMultiple(of: 2) ? .milliseconds(5) : .zero
            rig.publisher.send(
                RTPPacketHeader(
                    marker: true, payloadType: TestPublisher.payloadType,
                    sequenceNumber: SequenceNumber(UInt16(number)),
                    timestamp: RTPTimestamp(UInt32(number) * 450), ssrc: TestPublisher.ssrc), [0x65, number])
            rig.run(for: .milliseconds(5))
        }
        rig.run(for: .seconds(1))
        let reports = rig.publisher.feedback.flatMap(\.receptionReports)
        #expect(!reports.isEmpty)
        #expect(reports.allSatisfy { $0.jitter == 0 }, "\(reports.map(\.jitter))")
    }

    @Test("retransmissions of nothing, and of packets that nobody misses, change nothing")
    func surplusRetransmissions() throws {
        let rig = try rig(hasRTX: true)
        var random = SeededRandom(seed: 3)
        for index in 0..<200 {
            let payload = [[], [7], [UInt8(index), UInt8.random(in: 0...255, using: &random), 0x65, 1]][index % 3]
            rig.publisher.send(
                RTPPacketHeader(
                    marker: true, payloadType: Self.rtx, sequenceNumber: SequenceNumber(0).advanced(by: index),
                    timestamp: RTPTimestamp(UInt32.random(in: 0 ... .max, using: &random)), ssrc: SSRC(99)), payload)
            if index % 10 == 0 { share(rig, pictures: 1) }
        }
        rig.run(for: .seconds(1))
        #expect(rig.collector.contents == rig.published.map(\.contents))
    }
}
