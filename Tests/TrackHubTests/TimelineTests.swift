import MediaTypes
import TestSupport
import Testing
import TrackHub

private func at(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

@Suite("The timeline of a track")
struct TimelineTests {
    private func ticks(_ placed: (time: MediaTime?, captureTime: MonotonicTime?)) -> Int64 {
        placed.time?.ticks ?? .min
    }

    @Test("a source that gives times only later is placed by them from then on, and never runs back")
    func laterTimes() {
        var timeline = Timeline(origin: at(0))
        let first = timeline.place(captureTime: nil, epoch: 1, arrival: at(500))
        let second = timeline.place(captureTime: at(490), epoch: 1, arrival: at(520))
        #expect(second.captureTime == at(490))
        #expect(ticks(second) == ticks(first) + 1)
        let third = timeline.place(captureTime: at(540), epoch: 1, arrival: at(560))
        #expect(third.captureTime == at(540))
        #expect(ticks(third) == 540 * 90)
    }

    @Test("capture times of this machine's clock are taken as they are")
    func ownClock() {
        var timeline = Timeline(origin: at(1000))
        let first = timeline.place(captureTime: at(2000), epoch: 1, arrival: at(2003))
        let second = timeline.place(captureTime: at(2033), epoch: 1, arrival: at(2050))
        #expect(ticks(first) == 90_000)
        #expect(ticks(second) - ticks(first) == 33 * 90)
        #expect(second.captureTime == at(2033))
    }

    @Test("a source without time is placed by arrival")
    func arrival() {
        var timeline = Timeline(origin: .zero)
        let placed = timeline.place(captureTime: nil, epoch: 0, arrival: at(500))
        #expect(ticks(placed) == 45_000)
        #expect(placed.captureTime == nil)
    }

    @Test("a foreign clock keeps its distances and claims no capture time")
    func foreignClock() {
        var timeline = Timeline(origin: .zero)
        let first = timeline.place(captureTime: at(9_000_000), epoch: 7, arrival: at(100))
        let second = timeline.place(captureTime: at(9_000_040), epoch: 7, arrival: at(190))
        #expect(ticks(first) == 9_000)
        #expect(ticks(second) - ticks(first) == 40 * 90)
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
        #expect(ticks(after) > ticks(before))
        #expect(ticks(after) == 20_000 * 90)
    }

    @Test("sound is placed at exact steps even if its clock is measured inexactly, and stays with that clock")
    func sound() throws {
        var random = SeededRandom(seed: 7)
        var timeline = Timeline(origin: .zero)
        timeline.clockRate = .audio
        // The clock of the other machine runs 100 ppm faster, and is known to 500 microseconds.
        var steps: [Int64: Int] = [:]
        var last: Int64?
        for number in Int64(0)..<12_000 {
            let drift = Interval(nanoseconds: number * 1_000)
            let error = Interval.microseconds(.random(in: -500...500, using: &random))
            let stamp = at(100 + number * 10) + drift + error
            let placed = try #require(
                timeline.place(
                    captureTime: stamp, epoch: 1, arrival: at(110 + number * 10), lasting: .milliseconds(10)
                ).time)
            if let last { steps[placed.ticks - last, default: 0] += 1 }
            last = placed.ticks
            try #require(abs(placed.ticks - ClockRate.audio.ticks(in: stamp - .zero)) <= 450)
        }
        // 12 ms of drift are made up for in one step.
        #expect(steps.count == 2 && steps[480] == 11_998)
        let late = timeline.place(captureTime: at(190_000), epoch: 1, arrival: at(190_005)).time
        #expect(abs(try #require(late).ticks - 190_000 * 48) <= 60)
    }

    @Test("sound whose first packet came late keeps the distances of its time stamps")
    func lateSound() throws {
        var timeline = Timeline(origin: .zero)
        timeline.clockRate = .audio
        let times = try [0, 10, 30].map { (stamp: Int64) in
            try #require(
                timeline.place(
                    captureTime: at(9_000_000 + stamp), epoch: 7, arrival: at(150 + stamp), lasting: .milliseconds(10)
                ).time)
        }
        #expect(zip(times, times.dropFirst()).map { $1.ticks - $0.ticks } == [480, 960])
    }

    @Test("sound that begins before the end of the sound before has no place, and what follows it has")
    func overlap() {
        var timeline = Timeline(origin: .zero)
        timeline.clockRate = .audio
        let places = [0, 20, 11, 25, 35, 60].map { (stamp: Int64) in
            timeline.place(
                captureTime: at(1000 + stamp), epoch: 1, arrival: at(1100), lasting: .milliseconds(20)
            ).time?.ticks
        }
        #expect(places == [48_000, 48_960, nil, nil, 49_920, 50_880])
    }

    @Test("media time never runs back, whatever the stamps say", arguments: [ClockRate.video, .audio])
    func neverBack(clockRate: ClockRate) {
        var random = SeededRandom(seed: 4)
        var timeline = Timeline(origin: .zero)
        timeline.clockRate = clockRate
        var last = MediaTime(ticks: -1)
        for step in 0..<5_000 {
            let stamp =
                Bool.random(using: &random)
                ? MonotonicTime(nanoseconds: .random(in: .min ... .max, using: &random)) : nil
            let placed = timeline.place(
                captureTime: stamp, epoch: UInt64(step / 10), arrival: at(Int64(step)))
            guard let time = placed.time else {
                #expect(clockRate == .audio)
                continue
            }
            #expect(time > last)
            last = time
        }
    }
}
