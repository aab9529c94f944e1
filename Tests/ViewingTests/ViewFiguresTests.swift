import H264
import MediaTypes
import RoomConnections
import Testing

@testable import Viewing

@Suite("A viewer's figures")
struct ViewFiguresTests {
    private let begin = MonotonicTime(nanoseconds: 5_000_000_000_000)
    private let size = PictureSize(width: 320, height: 240)

    private func frame(captured: MonotonicTime?, at arrival: MonotonicTime, lost: Int = 0) -> ReceivedFrame {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x41] + [UInt8](repeating: 1, count: 995)
        return ReceivedFrame(
            coded: CodedFrame(h264: bytes, units: [4..<1000], captureTime: captured), codec: .h264, arrival: arrival,
            lostPackets: lost)
    }

    @Test("a second has a frame rate, a bit rate and a median delay")
    func second() {
        var figures = ViewFigures(now: begin)
        figures.connected(at: begin)
        #expect(figures.take(.connecting, at: begin + .seconds(3)).delay == nil)
        for index in 0..<25 as Range<Int64> {
            let captured = begin + .seconds(3) + .milliseconds(40 * index)
            let shown = captured + .milliseconds(index == 7 ? 90 : 12)
            let frame = frame(captured: captured, at: shown)
            figures.arrived(frame)
            figures.decoded(frame, size: index == 0 ? size : nil, at: shown)
        }
        let second = figures.take(.playing, at: begin + .seconds(4))
        #expect(second.picturesPerSecond == 25 && second.size == size && second.delay == .milliseconds(12))
        #expect(second.bitRate.bitsPerSecond == 200_000 && second.freezes == 0 && second.lostPackets == 0)
        #expect(second.text == "12 ms, 25 fps, 200 kbit/s, 320x240")
        #expect(
            second.json == #"{"state":"playing","pictures":25,"width":320,"height":240,"bitRate":200000,"#
                + #""lostPackets":0,"freezes":0,"delay":12}"#)
        #expect(figures.take(.waiting, at: begin + .seconds(5)).text == "waiting")
    }

    @Test("the path is reported while frames are played, until another connection has begun")
    func path() {
        var figures = ViewFigures(now: begin)
        figures.connected(at: begin)
        #expect(figures.take(.playing, at: begin + .seconds(1)).path == nil)
        figures.path = .tcp
        let second = figures.take(.playing, at: begin + .seconds(2))
        #expect(second.path == .tcp && second.json.hasSuffix(#","path":"tcp"}"#))
        #expect(second.text == "0 fps, 0 kbit/s, over TCP")
        #expect(figures.take(.waiting, at: begin + .seconds(3)).path == nil)
        figures.path = .relay
        #expect(figures.take(.playing, at: begin + .seconds(4)).text.hasSuffix(", through a relay"))
        figures.connected(at: begin + .seconds(4))
        #expect(figures.take(.playing, at: begin + .seconds(5)).path == nil)
    }

    @Test("frames of the first two seconds, old frames, keep-alives and frames without a time have no delay")
    func withoutDelay() {
        var figures = ViewFigures(now: begin)
        let times: [(captured: MonotonicTime?, shown: MonotonicTime)] = [
            (begin + .seconds(1), begin + .milliseconds(1_010)), (begin - .seconds(1), begin + .seconds(3)),
            (begin + .seconds(3), begin + .milliseconds(3_010)), (nil, begin + .seconds(6)),
        ]
        figures.connected(at: begin)
        for (captured, shown) in times {
            figures.decoded(frame(captured: captured, at: shown), size: nil, at: shown)
        }
        #expect(figures.take(.playing, at: begin + .seconds(7)).delay == nil)
        #expect(figures.pictures == 4)
    }

    @Test("a gap is a freeze if packets were lost or the frame is late, and not if the screen is static")
    func freezes() {
        var figures = ViewFigures(now: begin)
        figures.connected(at: begin)
        var now = begin + .seconds(3)
        func show(after gap: Int64, delay: Int64, lost: Int, _ figures: inout ViewFigures) {
            now = now + .milliseconds(gap)
            let frame = frame(captured: now - .milliseconds(delay), at: now, lost: lost)
            figures.arrived(frame)
            figures.decoded(frame, size: size, at: now)
        }
        show(after: 0, delay: 10, lost: 0, &figures)
        show(after: 900, delay: 10, lost: 0, &figures)
        #expect(figures.take(.playing, at: now).freezes == 0)
        show(after: 900, delay: 10, lost: 3, &figures)
        show(after: 40, delay: 10, lost: 5, &figures)
        show(after: 400, delay: 390, lost: 5, &figures)
        let second = figures.take(.playing, at: now)
        #expect(second.freezes == 2 && second.lostPackets == 5)
        #expect(second.text.contains("lost packets: 5, freezes: 2"))
        // Each connection counts its lost packets from 0.
        figures.connected(at: now)
        show(after: 900, delay: 10, lost: 1, &figures)
        let next = figures.take(.playing, at: now)
        #expect(next.freezes == 0 && next.lostPackets == 1)
    }
}
