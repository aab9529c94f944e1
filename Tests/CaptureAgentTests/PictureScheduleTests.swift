import MediaTypes
import Testing

@testable import CaptureAgent

@Suite("picture schedule")
struct PictureScheduleTests {
    private let still = PictureSchedule.Reasons(isForced: false, isDamaged: false, looksForPointer: false)
    private let damaged = PictureSchedule.Reasons(isForced: false, isDamaged: true, looksForPointer: false)
    private let watching = PictureSchedule.Reasons(isForced: false, isDamaged: false, looksForPointer: true)

    @Test("after a rest the first change is taken at once, and the next one a period later")
    func firstAtOnce() {
        var schedule = PictureSchedule(period: .milliseconds(40), keepAlive: .seconds(2))
        schedule.took(at: time(0), isChange: true)
        schedule.foundNothing(at: time(500), mayAskAgainAtOnce: true)
        #expect(schedule.due(damaged) <= time(501))
        schedule.took(at: time(501), isChange: true)
        #expect(schedule.due(damaged) > time(501))
        #expect(schedule.due(damaged) <= time(541))
    }

    @Test("a hundred pictures of a screen that always changes take a hundred periods, though each is a little late")
    func steadyBeat() {
        var schedule = PictureSchedule(period: .milliseconds(40), keepAlive: .seconds(2))
        var now = time(1000)
        schedule.took(at: now, isChange: true)
        for _ in 0..<100 {
            now = schedule.due(damaged) + .milliseconds(3)
            schedule.took(at: now, isChange: true)
        }
        #expect(abs((now - time(1000)).milliseconds - 4000) <= 40)
    }

    @Test("pictures that take longer than a period don't pile up")
    func overload() {
        var schedule = PictureSchedule(period: .milliseconds(10), keepAlive: .seconds(2))
        var now = time(1000)
        for _ in 0..<20 {
            schedule.took(at: now, isChange: true)
            #expect(schedule.due(damaged) >= now + .milliseconds(5))
            now = schedule.due(damaged) + .milliseconds(90)
        }
    }

    @Test("a still screen is looked at once a period for the pointer, and else only for the keep-alive picture")
    func stillScreen() {
        var schedule = PictureSchedule(period: .milliseconds(40), keepAlive: .seconds(2))
        schedule.took(at: time(1000), isChange: true)
        #expect(schedule.due(still) == time(3000))
        #expect(!schedule.isKeepAliveDue(time(2999)))
        #expect(schedule.isKeepAliveDue(time(3000)))
        schedule.foundNothing(at: time(1100), mayAskAgainAtOnce: true)
        #expect(schedule.due(watching) == time(1140))
    }

    @Test("a screen at rest is looked at ten times a second, and at the full rate again when something has moved")
    func rest() {
        var schedule = PictureSchedule(period: .milliseconds(40), keepAlive: .seconds(2))
        schedule.took(at: time(1000), isChange: true)
        schedule.foundNothing(at: time(1999), mayAskAgainAtOnce: true)
        #expect(schedule.due(watching) == time(2039))
        schedule.foundNothing(at: time(2039), mayAskAgainAtOnce: true)
        #expect(schedule.due(watching) == time(2139))
        // What the server tells of is taken at once all the same.
        #expect(schedule.due(damaged) <= time(2040))
        // A picture that only keeps the stream alive is no sign of life.
        schedule.took(at: time(3000), isChange: false)
        #expect(schedule.due(watching) == time(3100))
        schedule.took(at: time(3100), isChange: true)
        #expect(schedule.due(watching) <= time(3140))
    }

    @Test("where comparing is the only way to see a change, it is done once a period")
    func comparing() {
        var schedule = PictureSchedule(period: .milliseconds(40), keepAlive: .seconds(2))
        schedule.took(at: time(1000), isChange: true)
        schedule.foundNothing(at: time(1100), mayAskAgainAtOnce: false)
        #expect(schedule.due(damaged) == time(1140))
    }

    private func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }
}
