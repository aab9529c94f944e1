import MediaTypes
import Testing

@testable import Ingest

@Suite("The clock of a sound")
struct AudioClockTests {
    private let captured = MonotonicTime(nanoseconds: 77_000_000_000)
    private let arrival = MonotonicTime(nanoseconds: 5_000_000_000)
    /// How long a packet is.
    private let length = Interval.milliseconds(10)
    private func milliseconds(_ count: Int) -> Interval { .milliseconds(Int64(count)) }

    @Test("packets that come early and late keep the intervals at which they were captured")
    func jitter() {
        var clock = AudioClock()
        let first = clock.place(captured, arrival: arrival + milliseconds(4), lasting: length)
        for (index, late) in [0, 9, 3, 60, 50, 40, 7, 1].enumerated() {
            let time = milliseconds(10 * (index + 1))
            let came = arrival + time + milliseconds(late)
            let placed = clock.place(captured + time, arrival: came, lasting: length)
            #expect(placed - first == time)
            #expect(placed <= came)
        }
    }

    @Test("behind a pause of a replay, they are placed by arrival again")
    func pause() {
        var clock = AudioClock()
        let first = clock.place(captured, arrival: arrival, lasting: length)
        let second = clock.place(captured + length, arrival: arrival + milliseconds(2010), lasting: length)
        let third = clock.place(captured + length * 2, arrival: arrival + milliseconds(2025), lasting: length)
        #expect(second - first == milliseconds(2010))
        #expect(third - second == length)
    }

    @Test("the first one is placed by its own length before its arrival", arguments: [20, 60, 120])
    func first(length: Int) {
        var clock = AudioClock()
        let placed = clock.place(captured, arrival: arrival, lasting: milliseconds(length))
        #expect(arrival - placed == milliseconds(length))
    }

    @Test("a packet is never placed behind its arrival, however fast a replay is", arguments: [2, 10, 20])
    func fast(length: Int) {
        var clock = AudioClock()
        for index in 0..<1000 {
            let came = arrival + milliseconds(index)
            let time = captured + milliseconds(length * index)
            let placed = clock.place(time, arrival: came, lasting: milliseconds(length))
            #expect(placed <= came)
        }
    }

    @Test("an offset that wanders moves them only once it is too far off")
    func wandering() {
        var clock = AudioClock()
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
