import MediaTypes
import RTP
import Testing

struct TrackHistoryTests {
    private func unit(_ count: Int) -> PacketizedFrame {
        H264Packetizer().packetize(
            AccessUnits.unit([AccessUnits.nalUnit(0x41, count: count)]), at: MediaTime(ticks: Int64(count)))
    }

    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test("units are found by their running number")
    func numbers() {
        var history = TrackHistory()
        #expect(history.append(unit(10), at: time(0)) == FrameNumber(0))
        #expect(history.append(unit(20), at: time(0)) == FrameNumber(1))
        #expect(history.frame(FrameNumber(1))?.mediaTime.ticks == 20)
        #expect(history.frame(FrameNumber(2)) == nil)
        #expect(history.byteCount == 38)
    }

    @Test("no more units, bytes or seconds are kept than the limits say")
    func limits() {
        var history = TrackHistory(maxUnitCount: 8, maxByteCount: 1000, maxAge: .seconds(2))
        for _ in 0..<20 { _ = history.append(unit(10), at: time(0)) }
        #expect(history.count == 8)
        #expect(history.oldest == FrameNumber(12))
        #expect(history.frame(FrameNumber(11)) == nil)
        for _ in 0..<8 { _ = history.append(unit(396), at: time(0)) }
        #expect(history.count == 3)
        #expect(history.byteCount == 1200)
        _ = history.append(unit(10), at: time(2001))
        #expect(history.count == 2)
        _ = history.append(unit(5000), at: time(2002))
        _ = history.append(unit(5000), at: time(2003))
        #expect(history.count == 1)
        #expect(history.byteCount == 5004)
    }

    @Test("the picture before a pause is still there when the next one comes")
    func pause() {
        var history = TrackHistory()
        let before = history.append(unit(10), at: time(0))
        _ = history.append(unit(10), at: time(60_000))
        #expect(history.frame(before) != nil && history.time(of: before) == time(0))
        _ = history.append(unit(10), at: time(60_001))
        #expect(history.frame(before) == nil && history.time(of: before) == nil)
    }
}
