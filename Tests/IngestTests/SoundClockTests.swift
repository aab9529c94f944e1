import MediaTypes
import Testing

@testable import Ingest

@Suite("The clock of a sound")
struct SoundClockTests {
    private let captured = MonotonicTime(nanoseconds: 77_000_000_000)
    private let arrival = MonotonicTime(nanoseconds: 5_000_000_000)
    private func milliseconds(_ count: Int) -> Interval { .milliseconds(Int64(count)) }

    @Test("packets that come early and late keep the intervals at which they were captured")
    func jitter() {
        var clock = SoundClock()
        let first = clock.place(captured, arrival: arrival + milliseconds(4))
        for (index, late) in [0, 9, 3, 60, 50, 40, 7, 1].enumerated() {
            let time = milliseconds(10 * (index + 1))
            let came = arrival + time + milliseconds(late)
            let placed = clock.place(captured + time, arrival: came)
            #expect(placed - first == time)
            #expect(placed <= came)
        }
    }

    @Test("behind a pause of a replay, they are placed by arrival again")
    func pause() {
        var clock = SoundClock()
        let first = clock.place(captured, arrival: arrival)
        let second = clock.place(captured + milliseconds(10), arrival: arrival + milliseconds(2010))
        let third = clock.place(captured + milliseconds(20), arrival: arrival + milliseconds(2025))
        #expect(second - first == milliseconds(2010))
        #expect(third - second == milliseconds(10))
    }

    @Test("a packet is never placed behind its arrival, however fast a replay is")
    func fast() {
        var clock = SoundClock()
        for index in 0..<1000 {
            let came = arrival + milliseconds(index)
            let placed = clock.place(captured + milliseconds(10 * index), arrival: came)
            #expect(placed <= came)
        }
    }

    @Test("an offset that wanders moves them only once it is too far off")
    func wandering() {
        var clock = SoundClock()
        let known = arrival
        let first = clock.place(captured, known: known)
        #expect(first == known)
        for index in 1...10 {
            let time = milliseconds(10 * index)
            let placed = clock.place(captured + time, known: known + time + milliseconds(index))
            #expect(placed - first == time)
        }
        let far = milliseconds(110)
        let last = clock.place(captured + far, known: known + far + milliseconds(11))
        #expect(last - first == far + milliseconds(11))
    }
}
