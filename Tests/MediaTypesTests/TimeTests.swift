import MediaTypes
import Testing

@Suite("Times and intervals")
struct TimeTests {
    private let earliest = MonotonicTime(nanoseconds: .min)
    private let latest = MonotonicTime.distantFuture
    private let longest = Interval(nanoseconds: .max)
    private let maxNegative = Interval(nanoseconds: .min)

    @Test("times add and subtract exactly inside the range")
    func exact() {
        let time = MonotonicTime(nanoseconds: 1_000)
        #expect(time + .microseconds(2) == MonotonicTime(nanoseconds: 3_000))
        #expect(time - .microseconds(2) == MonotonicTime(nanoseconds: -1_000))
        #expect(MonotonicTime(nanoseconds: 500) - time == Interval(nanoseconds: -500))
        #expect(Interval.seconds(2) + .milliseconds(5) - .seconds(1) == .milliseconds(1_005))
        #expect(Interval.milliseconds(3) * -2 == .milliseconds(-6))
        #expect(Interval.milliseconds(3) / 2 == .microseconds(1_500))
    }

    @Test("a time stays at the end of the range instead of wrapping")
    func timesSaturate() {
        #expect(latest + .seconds(1) == latest)
        #expect(earliest + .seconds(-1) == earliest)
        #expect(latest - .seconds(-1) == latest)
        #expect(earliest - .seconds(1) == earliest)
        #expect(MonotonicTime(nanoseconds: 0) - maxNegative == latest)
        #expect(latest - earliest == longest)
        #expect(earliest - latest == maxNegative)
    }

    @Test("an interval stays at the end of the range instead of wrapping")
    func intervalsSaturate() {
        #expect(longest + .seconds(1) == longest)
        #expect(maxNegative + .seconds(-1) == maxNegative)
        #expect(maxNegative - .seconds(1) == maxNegative)
        #expect(longest - .seconds(-1) == longest)
        #expect(Interval.zero - maxNegative == longest)
        #expect(Interval.seconds(.max) == longest)
        #expect(Interval.milliseconds(.min) == maxNegative)
        #expect(longest * 2 == longest)
        #expect(longest * -2 == maxNegative)
        #expect(maxNegative * -1 == longest)
    }

    @Test("media time counts 90 000 ticks a second, rounded down")
    func ticks() {
        #expect(ClockRate.video.ticks(in: .seconds(1)) == 90_000)
        #expect(ClockRate.video.ticks(in: .milliseconds(1)) == 90)
        #expect(ClockRate.video.ticks(in: Interval(nanoseconds: 11_111)) == 0)
        #expect(ClockRate.video.ticks(in: Interval(nanoseconds: 11_112)) == 1)
        #expect(ClockRate.video.ticks(in: .zero) == 0)
        #expect(ClockRate.video.ticks(in: longest) == 830_103_483_316_929)
        #expect(MediaTime(ticks: 5) + 90 == MediaTime(ticks: 95))
        #expect(MediaTime(ticks: 5) < MediaTime(ticks: 6))
    }

    @Test("ticks of neighbouring intervals never run back")
    func ticksAreMonotonic() {
        var last = ClockRate.video.ticks(in: .zero)
        for step in Int64(1)...30_000 {
            let ticks = ClockRate.video.ticks(in: Interval(nanoseconds: step * 3_333))
            #expect(ticks >= last)
            last = ticks
        }
        #expect(last == 30_000 * 3_333 * 9 / 100_000)
    }
}
