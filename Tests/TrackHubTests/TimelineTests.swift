import MediaTypes
import TestSupport
import Testing
import TrackHub

private func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

@Suite("The timeline of a track")
struct TimelineTests {
    @Test("a source that gives times only later is placed by them from then on, and never runs back")
    func laterTimes() {
        var timeline = Timeline(origin: at(0))
        let first = timeline.place(captureTime: nil, epoch: 1, arrival: at(500))
        let second = timeline.place(captureTime: at(490), epoch: 1, arrival: at(520))
        #expect(second.captureTime == at(490))
        #expect(second.time.ticks == first.time.ticks + 1)
        let third = timeline.place(captureTime: at(540), epoch: 1, arrival: at(560))
        #expect(third.captureTime == at(540))
        #expect(third.time.ticks == 540 * 90)
    }

    @Test("capture times of this machine's clock are taken as they are")
    func ownClock() {
        var timeline = Timeline(origin: at(1000))
        let first = timeline.place(captureTime: at(2000), epoch: 1, arrival: at(2003))
        let second = timeline.place(captureTime: at(2033), epoch: 1, arrival: at(2050))
        #expect(first.time.ticks == 90_000)
        #expect(second.time.ticks - first.time.ticks == 33 * 90)
        #expect(second.captureTime == at(2033))
    }

    @Test("a source without time is placed by arrival")
    func arrival() {
        var timeline = Timeline(origin: .zero)
        let placed = timeline.place(captureTime: nil, epoch: 0, arrival: at(500))
        #expect(placed.time.ticks == 45_000)
        #expect(placed.captureTime == nil)
    }

    @Test("a foreign clock keeps its distances and claims no capture time")
    func foreignClock() {
        var timeline = Timeline(origin: .zero)
        let first = timeline.place(captureTime: at(9_000_000), epoch: 7, arrival: at(100))
        let second = timeline.place(captureTime: at(9_000_040), epoch: 7, arrival: at(190))
        #expect(first.time.ticks == 9_000)
        #expect(second.time.ticks - first.time.ticks == 40 * 90)
        #expect(second.captureTime == nil)
    }

    @Test("a clock known with an error of milliseconds is ours, even if its first picture seems to come too early")
    func inexactClock() {
        var timeline = Timeline(origin: .zero)
        let first = timeline.place(captureTime: at(103), epoch: 7, arrival: at(100))
        #expect(first.captureTime == at(100))
        #expect(timeline.place(captureTime: at(140), epoch: 7, arrival: at(150)).captureTime == at(140))
    }

    @Test("the timeline goes on over a new epoch whose clock starts elsewhere")
    func newEpoch() {
        var timeline = Timeline(origin: .zero)
        let before = timeline.place(captureTime: at(5_000), epoch: 1, arrival: at(5_001))
        let after = timeline.place(captureTime: at(1), epoch: 2, arrival: at(20_000))
        #expect(after.time > before.time)
        #expect(after.time.ticks == 20_000 * 90)
    }

    @Test("media time never runs back, whatever the stamps say")
    func neverBack() {
        var random = SeededRandom(seed: 4)
        var timeline = Timeline(origin: .zero)
        var last = MediaTime(ticks: -1)
        for step in 0..<5_000 {
            let stamp =
                Bool.random(using: &random)
                ? MonotonicTime(nanoseconds: .random(in: .min ... .max, using: &random)) : nil
            let placed = timeline.place(
                captureTime: stamp, epoch: UInt64(step / 10), arrival: at(Int64(step)))
            #expect(placed.time > last)
            last = placed.time
        }
    }
}
