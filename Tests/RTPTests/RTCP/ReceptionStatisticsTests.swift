import MediaTypes
import RTP
import Testing

struct ReceptionStatisticsTests {
    private let start = MonotonicTime.zero + .seconds(100)

    private func header(_ number: Int, _ ticks: Int = 0) -> RTPPacketHeader {
        RTPPacketHeader(
            marker: false, payloadType: PayloadType(96), sequenceNumber: SequenceNumber(0).advanced(by: number),
            timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: ticks)), ssrc: SSRC(1))
    }

    @Test("what is lost shows in the next report, and what came late takes it back")
    func loss() throws {
        var statistics = ReceptionStatistics(.video)
        var last = statistics.report(ssrc: SSRC(1), now: start)
        #expect(last == nil)
        for number in 65530..<65540 where number != 65533 && number != 65536 {
            statistics.note(header(number), now: start)
        }
        last = statistics.report(ssrc: SSRC(1), now: start)
        var report = try #require(last)
        #expect(report.cumulativeLost == 2)
        #expect(report.fractionLost == 51)
        #expect(report.highestSequenceNumber == 65539)
        for number in [65533, 65540, 65541] { statistics.note(header(number), now: start) }
        last = statistics.report(ssrc: SSRC(1), now: start)
        report = try #require(last)
        #expect(report.cumulativeLost == 1)
        #expect(report.fractionLost == 0)
        last = statistics.report(ssrc: SSRC(1), now: start)
        report = try #require(last)
        #expect(report.fractionLost == 0)
    }

    @Test("jitter is that of the packets' spacing, in ticks")
    func jitter() throws {
        var statistics = ReceptionStatistics(.video)
        for number in 0..<300 {
            let late = Interval.milliseconds(number % 2 == 0 ? 0 : 10)
            statistics.note(header(number, number * 3000), now: start + .microseconds(Int64(number) * 33_333) + late)
        }
        let last = statistics.report(ssrc: SSRC(1), now: start)
        let report = try #require(last)
        #expect((850...950).contains(report.jitter))
    }

    @Test("the sender's last report and its age are sent back")
    func senderReport() throws {
        var statistics = ReceptionStatistics(.video)
        statistics.note(header(0), now: start)
        let ntp = NTPTime(0x1122_3344_5566_7788)
        statistics.note(
            SenderReport(ssrc: SSRC(1), ntpTime: ntp, rtpTimestamp: RTPTimestamp(0), packetCount: 1, octetCount: 1),
            now: start)
        let last = statistics.report(ssrc: SSRC(1), now: start + .milliseconds(500))
        let report = try #require(last)
        #expect(report.lastSenderReport == 0x3344_5566)
        #expect((32_760...32_770).contains(report.delaySinceLastSenderReport))
    }

    @Test("numbers and time stamps from all over the range are no trouble")
    func extremes() throws {
        var statistics = ReceptionStatistics(.video)
        for round in 0..<5000 {
            statistics.note(header(round * 30_011, round * 1_999_999_973), now: start + .seconds(Int64(round)))
            if round % 7 == 0 { _ = statistics.report(ssrc: SSRC(1), now: start) }
        }
        let last = statistics.report(ssrc: SSRC(1), now: .distantFuture)
        var bytes: [UInt8] = []
        ReceiverReport(
            ssrc: SSRC(2), receptionReports: [try #require(last)]
        ).write(into: &bytes)
        #expect(try RTCPPacket.parse(bytes[...]).count == 1)
    }
}
