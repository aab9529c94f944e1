import MediaTypes
import RTP
import RTSP
import Testing

@testable import RTSPServing

@Suite("A stream of a publisher over RTSP")
struct PublishedStreamTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private func stream(_ encoding: String = "PCMU/8000") throws -> PublishedStream {
        let text = "v=0\r\nm=audio 0 RTP/AVP 98\r\na=rtpmap:98 \(encoding)\r\n"
        let announcement = try RTSPAnnouncement(parsing: Array(text.utf8))
        return PublishedStream(try #require(announcement.streams.first), reporter: SSRC(1))
    }

    private func report(at time: UInt64, _ timestamp: UInt32) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        SenderReport(
            ssrc: SSRC(7), ntpTime: NTPTime(time), rtpTimestamp: RTPTimestamp(timestamp), packetCount: 1, octetCount: 1
        ).write(into: &bytes)
        return bytes[...]
    }

    private func packet(_ number: UInt16, _ timestamp: UInt32) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        RTPPacketHeader(
            marker: false, payloadType: PayloadType(98), sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(7)
        ).write(into: &bytes)
        return (bytes + [UInt8](repeating: 0xFF, count: 160))[...]
    }

    /// When each packet is heard.
    private func times(_ items: [RTSPFeed.Item]) -> [Interval] {
        items.compactMap { item in
            guard case .sound(_, let heard, let until) = item else { return nil }
            #expect(until - heard == .milliseconds(20))
            return heard
        }
    }

    @Test("is put on one clock with the others by the sender reports, even if its timestamps wrap")
    func reports() throws {
        var epoch: Interval?
        var (first, second) = (try stream(), try stream())
        first.takeReports(report(at: 10 << 32, .max - 3999), epoch: &epoch, now: start)
        // Half a second later by the sender's clock.
        second.takeReports(report(at: 10 << 32 | 1 << 31, 400), epoch: &epoch, now: start + .milliseconds(70))
        #expect(times(first.receive(packet(1, 4000), now: start)) == [.seconds(6)])
        #expect(times(second.receive(packet(1, 400), now: start)) == [.milliseconds(5500)])
        // A little off, and then by another clock.
        first.takeReports(report(at: 11 << 32, 4400), epoch: &epoch, now: start)
        #expect(times(first.receive(packet(2, 4000), now: start)) == [.seconds(6)])
        first.takeReports(report(at: 21 << 32, 4000), epoch: &epoch, now: start)
        #expect(times(first.receive(packet(3, 4000), now: start)) == [.seconds(16)])
    }

    @Test("is placed by its first packet without a report")
    func arrival() throws {
        var epoch: Interval?
        var stream = try stream()
        stream.takeReports(report(at: 0, 8000), epoch: &epoch, now: start)
        #expect(epoch == nil)
        #expect(times(stream.receive(packet(1, 800), now: start)) == [.seconds(5)])
        #expect(times(stream.receive(packet(2, 1600), now: start + .milliseconds(150))) == [.milliseconds(5100)])
    }

    @Test("waits 100 ms for a packet that is missing, and reports the loss")
    func order() throws {
        var stream = try stream()
        #expect(stream.report(now: start) == nil)
        #expect(stream.receive(packet(1, 0), now: start).count == 1)
        #expect(stream.receive(packet(3, 320), now: start).isEmpty)
        #expect(stream.receive(packet(2, 160), now: start).count == 2)
        #expect(stream.receive(packet(5, 640), now: start).isEmpty)
        var now = start
        while stream.deadline < start + .milliseconds(100) {
            now = stream.deadline
            let early = stream.advance(now: now)
            #expect(early.isEmpty && stream.deadline > now)
        }
        #expect(stream.advance(now: start + .milliseconds(100)).count == 1)
        let written = stream.report(now: now)
        let report = try #require(written)
        #expect(try RTCPPacket.parse(report[...]).first?.receptionReports.first?.cumulativeLost == 1)
    }

    @Test("may have timestamps that jump as far as they can")
    func jumps() throws {
        var stream = try stream("PCMU/1")
        var timestamp: UInt32 = 0
        for number in 0..<200 {
            timestamp &+= UInt32(Int32.max)
            #expect(stream.receive(packet(UInt16(number), timestamp), now: start).count == 1)
        }
    }
}
