import H264
import MediaTypes
import RTP
import RTSP
import TestSupport
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

    private func packet(_ number: UInt16, _ timestamp: UInt32, ssrc: UInt32 = 7) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        RTPPacketHeader(
            marker: false, payloadType: PayloadType(98), sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(ssrc)
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

    @Test("starts again with another SSRC, without waiting for packets of the last one")
    func restarted() throws {
        var stream = try stream()
        #expect(stream.receive(packet(1, 0), now: start).count == 1)
        #expect(stream.receive(packet(3, 320), now: start).isEmpty)
        #expect(stream.receive(packet(500, 480, ssrc: 8), now: start).count == 1)
    }

    @Test("leaves out pictures after a lost one, for at most 2 s")
    func heldBack() throws {
        let text = "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
        let announcement = try RTSPAnnouncement(parsing: Array(text.utf8))
        var stream = PublishedStream(try #require(announcement.streams.first), reporter: SSRC(1))
        let pictures = AccessUnitBuilder.accessUnits(inAnnexB: try TestStreams.small.bytes())
        var number = SequenceNumber(1)
        /// How many pictures can be passed on when this one arrives, so many milliseconds after the start.
        func count(_ index: Int, after milliseconds: Int64, isLost: Bool = false) -> Int {
            let frame = TrackFormat.Codec.h264.packetizer.packetize(
                pictures[index], at: MediaTime(ticks: Int64(index) * 3600), format: TrackFormat(codec: .h264))
            var count = 0
            for (place, payload) in frame.packets.enumerated() {
                var bytes: [UInt8] = []
                RTPPacketHeader(
                    marker: place == frame.packets.count - 1, payloadType: PayloadType(96), sequenceNumber: number,
                    timestamp: RTPTimestamp(UInt32(index) * 3600), ssrc: SSRC(7)
                ).write(into: &bytes)
                payload.append(to: &bytes, from: pictures[index].bytes)
                number = number.next
                if !isLost { count += stream.receive(bytes[...], now: start + .milliseconds(milliseconds)).count }
            }
            return count
        }
        #expect(count(0, after: 0) == 1)
        #expect(count(1, after: 40, isLost: true) == 0)
        #expect(count(2, after: 80) == 0)
        // Now the lost one is no longer waited for.
        let late = stream.advance(now: start + .milliseconds(180))
        #expect(late.isEmpty)
        #expect(count(3, after: 2170) == 0)
        #expect(count(4, after: 2190) == 1)
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
