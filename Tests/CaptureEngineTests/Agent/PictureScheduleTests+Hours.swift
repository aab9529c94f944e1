import MediaTypes
import TestSupport
import Testing

@testable import CaptureEngine

/// An hour of pictures.
extension PictureScheduleTests {
    @Test("an hour of stillness is a keep-alive each 2.5 s, to the nanosecond where the clock wakes us in time")
    func stillHour() {
        var schedule = scheduleAtRest()
        for index in 1...1440 {
            let due = schedule.due(quiet)
            #expect(due == start + .milliseconds(2500) * Int64(index))
            #expect(!schedule.isKeepAliveDue(MonotonicTime(nanoseconds: due.nanoseconds - 1)))
            #expect(schedule.isKeepAliveDue(due))
            schedule.sentStill(at: due)
        }
        // Woken up late each time: never silent for longer than that, and never sooner than it has to be.
        var random = SeededRandom(seed: 60)
        var last = schedule.due(quiet)
        schedule.sentStill(at: last)
        for _ in 1...1440 {
            let late = Interval(nanoseconds: Int64.random(in: 0...2_000_000, using: &random))
            #expect(schedule.due(quiet) == last + .milliseconds(2500))
            last = last + .milliseconds(2500) + late
            schedule.sentStill(at: last)
        }
        // All that time the beat was kept for whatever comes.
        schedule.noticedChange(at: last + .milliseconds(7))
        #expect(schedule.due(changed) == last + .milliseconds(7) + PictureSchedule.settling)
    }

    @Test("an hour of motion stays on the beat, however late each wake-up is", arguments: [40, 33, 16])
    func movingHour(_ milliseconds: Int64) {
        let period = Interval.milliseconds(milliseconds)
        var schedule = scheduleInMotion(period)
        var random = SeededRandom(seed: UInt64(milliseconds))
        let count = 3_600_000 / milliseconds
        var wrong = 0
        let first = schedule.earliest
        for index in 0..<count {
            let beat = first + schedule.spacing * index
            let before = Interval(nanoseconds: Int64.random(in: 0..<schedule.spacing.nanoseconds, using: &random))
            let seen = MonotonicTime(nanoseconds: beat.nanoseconds - before.nanoseconds)
            schedule.noticedChange(at: seen)
            let due = max(beat, seen + PictureSchedule.settlingInMotion)
            if schedule.due(changed) != due { wrong += 1 }
            let late = Interval(nanoseconds: Int64.random(in: 0..<period.nanoseconds / 4, using: &random))
            schedule.took(at: due + late)
        }
        #expect(wrong == 0)
    }
}
