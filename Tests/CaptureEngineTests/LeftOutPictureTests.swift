import MediaTypes
import Testing

@testable import CaptureEngine

/// What becomes of a video's picture that the rate limit has no room for.
struct LeftOutPictureTests {
    private let period = Interval.microseconds(33_333)
    private let changed = PictureSchedule.Reasons(isForced: false, hasChange: true)
    private let paint = MonotonicTime.zero + .seconds(100)

    /// A schedule whose picture of `paint` is left out, since there is room only 11 ms later.
    private func schedule() -> PictureSchedule {
        var schedule = PictureSchedule(period: period, keepAlive: .milliseconds(2500))
        schedule.noticedChange(at: paint - period)
        schedule.took(at: paint - period)
        schedule.noticedChange(at: paint)
        schedule.leaveOut(until: paint + .milliseconds(11), at: paint + .milliseconds(1))
        return schedule
    }

    @Test("the next one is taken in its place, as soon as its own paint has settled")
    func next() {
        var schedule = schedule()
        let next = paint + period
        #expect(schedule.due(changed) > next)
        schedule.noticedChange(at: next, isNew: true)
        let due = next + PictureSchedule.settling
        #expect(schedule.due(changed) <= due)
        #expect(!schedule.isHeld(next))
        // More of the same paint doesn't put it off.
        schedule.noticedChange(at: next + .milliseconds(1), isNew: true)
        #expect(schedule.due(changed) <= due)
        schedule.took(at: due)
        #expect(schedule.waited(at: due) == nil)
    }

    @Test("after the rest of its own paint, which is the last that the screen reports, the next one is taken on time")
    func rest() {
        var schedule = schedule()
        schedule.noticedChange(at: paint + .milliseconds(12), isNew: true)
        #expect(schedule.due(changed) == paint + .milliseconds(1) + period)
        // That is no reason to take one before there is room.
        schedule.leaveOut(until: paint + .milliseconds(40), at: paint + .milliseconds(1))
        schedule.noticedChange(at: paint + .milliseconds(12), isNew: true)
        #expect(schedule.due(changed) == paint + .milliseconds(40))
    }

    @Test("if nothing else is painted, it is taken a period and a half later, or when there is room")
    func last() {
        var schedule = schedule()
        #expect(schedule.due(changed) == paint + .milliseconds(1) + period + period / 2)
        schedule.noticedChange(at: paint + .milliseconds(40))
        #expect(schedule.due(changed) == paint + .milliseconds(1) + period + period / 2)
        schedule.leaveOut(until: paint + .milliseconds(300), at: paint + .milliseconds(1))
        #expect(schedule.due(changed) == paint + .milliseconds(300))
    }

    @Test("text that waits for something else is not taken half drawn, and what is only held back is not left out")
    func settles() {
        var schedule = schedule()
        schedule.noticedWholeChange(at: paint)
        let next = paint + period
        schedule.noticedChange(at: next, isNew: true)
        #expect(schedule.due(changed) > next)
        schedule.hold(until: next + .seconds(1))
        schedule.noticedChange(at: next + period, isNew: true)
        #expect(schedule.due(changed) == next + .seconds(1))
    }

    @Test("at fewer than ten pictures a second it waits only until there is room")
    func slow() {
        var schedule = PictureSchedule(period: .milliseconds(200), keepAlive: .milliseconds(2500))
        schedule.took(at: paint - .milliseconds(200))
        schedule.noticedChange(at: paint)
        schedule.leaveOut(until: paint + .milliseconds(11), at: paint + .milliseconds(3))
        #expect(schedule.due(changed) == paint + .milliseconds(11))
    }
}
