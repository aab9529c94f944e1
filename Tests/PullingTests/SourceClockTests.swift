import MediaTypes
import TestSupport
import Testing

@testable import MediaFiles
@testable import Pulling

@Suite("A source's clock")
struct SourceClockTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000_000)

    @Test("pictures and sound stay in step whatever the network does, and no picture is placed after its arrival")
    func inStep() {
        var random = SeededRandom(seed: 1)
        var clock = SourceClock()
        for step in Int64(1)..<2_000 {
            // A picture and 20 ms of sound were captured at the same time; each takes 30 ms and up to 80 ms more.
            let (time, captured) = (Interval.milliseconds(step * 20), start + .milliseconds(step * 20))
            let ways = (0..<2).map { _ in Interval.microseconds(.random(in: 30_000...110_000, using: &random)) }
            let end = time + .milliseconds(20)
            let sound = clock.place(sound: time, until: end, arrival: captured + .milliseconds(20) + ways[0])
            let picture = clock.place(picture: time, arrival: captured + .milliseconds(20) + ways[1])
            #expect(picture <= captured + .milliseconds(20) + ways[1])
            #expect((sound - picture).nanoseconds.magnitude <= 20_000_000 || step < 100)
            if step > 200 { #expect((30...35).contains((picture - captured).milliseconds)) }
        }
    }

    @Test("sound keeps its distances with a clock 100 ppm off, and is corrected before anyone sees it")
    func drift() {
        for drift in [100.0, -100.0] {
            var clock = SourceClock()
            var breaks = 0
            var last: MonotonicTime?
            // An hour, a packet in 100 ms.
            for step in Int64(1)..<36_000 {
                let captured = start + .milliseconds(step * 100)
                let time = Interval(nanoseconds: Int64(Double(step) * 1e8 * (1 + drift / 1e6)))
                let end = time + .milliseconds(100)
                let placed = clock.place(sound: time, until: end, arrival: captured + .milliseconds(110))
                if let last, (placed - last - .milliseconds(100)).nanoseconds.magnitude > 1_000_000 { breaks += 1 }
                last = placed
                #expect((placed - captured - .milliseconds(10)).nanoseconds.magnitude < 25_000_000)
            }
            // 360 ms in an hour.
            #expect((14...19).contains(breaks), "\(breaks)")
        }
    }

    @Test("a burst in the beginning, and a source that starts again, are placed by their arrival")
    func steps() {
        var clock = SourceClock()
        // Half a second that had waited comes at once.
        for step in Int64(0)..<25 {
            let placed = clock.place(picture: .milliseconds(step * 20), arrival: start)
            #expect(placed == start)
        }
        let next = clock.place(picture: .milliseconds(500), arrival: start + .milliseconds(20))
        #expect(next == start + .milliseconds(20))
        // It is an hour further, and then in the beginning again.
        let later = clock.place(picture: .seconds(3600), arrival: start + .milliseconds(40))
        #expect(later == start + .milliseconds(40))
        let again = clock.place(picture: .zero, arrival: start + .milliseconds(60))
        #expect(again == start + .milliseconds(60))
        // Its clock stood still for a minute.
        let still = clock.place(picture: .milliseconds(20), arrival: start + .seconds(60))
        #expect(still == start + .seconds(60))
    }

    @Test("no time stops it")
    func extremes() {
        var random = SeededRandom(seed: 2)
        var clock = SourceClock()
        for _ in 0..<2_000 {
            let time = Interval(nanoseconds: .random(in: .min ... .max, using: &random))
            let end = Interval(nanoseconds: .random(in: .min ... .max, using: &random))
            _ = clock.place(sound: time, until: end, arrival: start)
            let placed = clock.place(picture: end, arrival: start)
            #expect(placed <= start)
        }
    }

    private func piece(sound due: Interval?) -> MediaReader.Piece {
        MediaReader.Piece(content: .sound(AudioPacket(bytes: [0])), time: due, due: due)
    }

    private func piece(picture due: Interval) -> MediaReader.Piece {
        let frame = CodedFrame(
            bytes: [0, 0, 0, 1, 0x65], units: [4..<5], isRandomAccess: true, captureTime: nil,
            format: TrackFormat(codec: .h264))
        return MediaReader.Piece(content: .frame(frame), time: due, due: due)
    }

    @Test("a file's sound that stands before its pictures waits for them, unless its time is wrong")
    func file() {
        var pace = FilePace()
        for step in Int64(0)..<10 {
            let ahead = pace.add(piece(sound: .milliseconds(step * 20)), now: start)
            #expect(ahead.isEmpty)
        }
        let first = pace.add(piece(picture: .milliseconds(50)), now: start)
        #expect(first.compactMap { $0.due?.milliseconds } == [0, 20, 40, 50])
        #expect(first.last.map { pace.due($0) } == start + .milliseconds(50))
        let second = pace.add(piece(picture: .milliseconds(90)), now: start)
        #expect(second.compactMap { $0.due?.milliseconds } == [60, 80, 90])
        // More may wait, but not any number; what is due in an hour is left out.
        var given: [Int64] = []
        for step in Int64(0)..<400 {
            let time = step < 300 ? Interval.milliseconds(200 + step * 20) : .seconds(3600)
            let next = pace.add(piece(sound: time), now: start + .milliseconds(90))
            given += next.compactMap { $0.due?.milliseconds }
        }
        #expect(given.count > 100 && given.first == 100)
        let rest = pace.finish(now: start + .milliseconds(200)).compactMap { $0.due?.milliseconds }
        #expect(rest.last == 200 + 299 * 20 && given.count + rest.count == 305)
    }
}
