import MediaTypes
import Replaying
import Testing

@Suite("The pace of a replay")
struct ReplayPaceTests {
    private let begin = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test("the first message is due at once, whenever it was recorded")
    func first() {
        var pace = ReplayPace(.recorded)
        #expect(pace.due(.seconds(600), now: begin) == begin)
    }

    @Test("later messages are due as far apart as they were recorded, however late each one is sent")
    func absolute() {
        var pace = ReplayPace(.recorded)
        _ = pace.due(.seconds(1), now: begin)
        #expect(pace.due(.milliseconds(1500), now: begin + .seconds(7)) == begin + .milliseconds(500))
        #expect(pace.due(.seconds(3), now: begin + .seconds(7)) == begin + .seconds(2))
    }

    @Test(
        "speed divides every distance",
        arguments: [(500, 4_000), (1000, 2_000), (2000, 1_000), (1_000_000, 2)] as [(Int64, Int64)])
    func speed(thousandths: Int64, milliseconds: Int64) {
        var pace = ReplayPace(.thousandths(thousandths))
        _ = pace.due(.zero, now: begin)
        #expect(pace.due(.seconds(2), now: begin) == begin + .milliseconds(milliseconds))
    }

    @Test("without a limit everything is due at once")
    func unlimited() {
        var pace = ReplayPace(.unlimited)
        #expect(pace.due(.zero, now: begin) == begin)
        #expect(pace.due(.seconds(99), now: begin + .seconds(1)) <= begin + .seconds(1))
        #expect(pace.length(of: .seconds(1)) == .zero)
    }

    @Test("a new beginning moves what follows, and nothing drifts over a thousand passes")
    func passes() {
        var pace = ReplayPace(.recorded)
        var due = pace.due(.seconds(10), now: begin)
        let length = Interval(nanoseconds: 3_333_333_337)
        for _ in 0..<1000 {
            due = pace.due(.seconds(10) + length, now: due)
            pace.begin(.seconds(10), at: due)
        }
        #expect(due == begin + length * 1000)
    }

    @Test("times of a damaged file saturate and don't trap", arguments: [Int64.min, -1, 0, 1, .max])
    func extremes(nanoseconds: Int64) {
        for speed in [ReplaySpeed.thousandths(1), .recorded, .thousandths(.max), .thousandths(0), .unlimited] {
            var pace = ReplayPace(speed)
            _ = pace.due(Interval(nanoseconds: nanoseconds), now: begin)
            for other in [Int64.min, 0, .max] { _ = pace.due(Interval(nanoseconds: other), now: begin) }
            _ = pace.length(of: Interval(nanoseconds: nanoseconds))
        }
    }
}
