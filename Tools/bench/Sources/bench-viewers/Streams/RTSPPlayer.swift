import MediaTypes
import PictureTimeline
import RTP
import SecureTransport

/// A player of RTSP, whose packets are interleaved with its requests (RFC 2326 section 10.12). Pictures are whole by
/// their packets' numbers and markers.
final class RTSPPlayer: StreamViewer {
    private static let reportInterval = Interval.seconds(5)
    private static let (mediaChannel, reportChannel): (UInt8, UInt8) = (0, 1)

    private let ssrc = SSRC(SecureRandom.uint32())
    private var stream: ReceivedStream?
    private var statistics = ReceptionStatistics(.video)
    private var nextReport = MonotonicTime.zero
    private var timeline = ViewerTimeline()

    override var isPlaced: Bool { timeline.offset != nil }

    /// `$`, the channel, the length in two bytes, the packet.
    override func handle(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) throws(BenchFailure) -> Int {
        var start = 0
        while bytes.count - start >= 4 {
            guard bytes[start] == 0x24 else { throw BenchFailure("the server sends something else than packets") }
            let end = start + 4 + Int(bytes.uint16(at: start + 2))
            guard end <= bytes.count else { break }
            let packet = UnsafeRawBufferPointer(rebasing: bytes[(start + 4)..<end])
            switch bytes[start + 1] {
            case Self.mediaChannel: receiveMedia(packet, now: now)
            case Self.reportChannel: receiveReport(packet, now: now)
            default: break
            }
            start = end
        }
        return start
    }

    private func receiveMedia(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) {
        guard bytes.count >= 12 else { return }
        counters.packets += 1
        counters.bytes += bytes.count
        let number = bytes.rtpSequenceNumber
        if stream?.source != bytes.rtpSource {
            stream = ReceivedStream(source: bytes.rtpSource, first: number)
            timeline = ViewerTimeline()
        }
        statistics.note(
            RTPPacketHeader(
                marker: bytes.rtpMarker, payloadType: PayloadType(bytes.rtpPayloadType),
                sequenceNumber: SequenceNumber(number), timestamp: RTPTimestamp(bytes.rtpTimestamp),
                ssrc: SSRC(bytes.rtpSource)),
            now: now)
        let isNew = stream?.receive(
            number, timestamp: bytes.rtpTimestamp, isMarked: bytes.rtpMarker, arrival: now, now: now)
        if isNew == false { counters.duplicates += 1 }
        for picture in stream?.whole ?? [] {
            timeline.notePacket(of: picture.timestamp, in: table)
            notePicture(counts: timeline.noteWhole(picture.timestamp, at: now, in: table), now: now)
        }
        stream?.whole.removeAll(keepingCapacity: true)
    }

    private func receiveReport(_ bytes: UnsafeRawBufferPointer, now: MonotonicTime) {
        for case .senderReport(let report) in (try? RTCPPacket.parse(Array(bytes)[...])) ?? [] {
            statistics.note(report, now: now)
        }
    }

    override func advance(now: MonotonicTime) {
        guard let stream, now >= nextReport, !isOver else { return }
        // The reports of many players don't come at once.
        let percent = Int64.random(in: 50...150)
        defer { nextReport = now + Self.reportInterval * percent / 100 }
        guard nextReport > .zero, let reception = statistics.report(ssrc: SSRC(stream.source), now: now) else { return }
        var report: [UInt8] = []
        ReceiverReport(ssrc: ssrc, receptionReports: [reception]).write(into: &report)
        SourceDescription(ssrc: ssrc, canonicalName: "player").write(into: &report)
        counters.reports += 1
        send([0x24, Self.reportChannel, UInt8(report.count >> 8), UInt8(report.count & 0xFF)] + report)
    }
}
