import MediaTypes
import TestSupport
import Testing

@testable import CaptureEngine

@Suite("When the next picture is taken")
struct PictureScheduleTests {
    let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private let period = Interval.milliseconds(40)
    let changed = PictureSchedule.Reasons(isForced: false, hasChange: true)
    let quiet = PictureSchedule.Reasons(isForced: false, hasChange: false)
    private let forced = PictureSchedule.Reasons(isForced: true, hasChange: false)

    func scheduleAtRest() -> PictureSchedule {
        var schedule = PictureSchedule(period: period, keepAlive: .milliseconds(2500))
        schedule.took(at: start)
        return schedule
    }

    /// One that has used all its room: the next picture may come about a period after `start`.
    func scheduleInMotion(_ period: Interval? = nil) -> PictureSchedule {
        var schedule = PictureSchedule(period: period ?? self.period, keepAlive: .milliseconds(2500))
        schedule.took(at: start)
        schedule.took(at: start)
        return schedule
    }

    @Test("the first change after a rest is taken when its paint has settled, below 4 ms")
    func firstChange() {
        var schedule = scheduleAtRest()
        let seen = start + .seconds(1)
        schedule.noticedChange(at: seen)
        #expect(schedule.due(changed) == seen + PictureSchedule.settling)
        #expect(PictureSchedule.settling < .milliseconds(4))
        // More of the same paint doesn't put it off.
        schedule.noticedChange(at: seen + .milliseconds(2))
        #expect(schedule.due(changed) == seen + PictureSchedule.settling)
        #expect(schedule.settled(at: seen + .milliseconds(3)) == .milliseconds(3))
    }

    @Test("from then on pictures come on a steady beat, whenever in between something changes")
    func beat() {
        var schedule = scheduleInMotion()
        let first = schedule.earliest
        for index in 0..<100 {
            let beat = first + schedule.spacing * Int64(index)
            schedule.noticedChange(at: beat - .milliseconds(Int64(3 + index % 30)))
            #expect(schedule.due(changed) == beat)
            // Woken up a little late: the beat doesn't move.
            #expect(schedule.settled(at: beat + .milliseconds(1)) <= .milliseconds(1))
            schedule.took(at: beat + .milliseconds(1))
        }
    }

    @Test("one picture that is late delays none of those that are painted after it", arguments: [5, 19, 21, 30, 40])
    func lateOnce(_ lateness: Int64) {
        var schedule = scheduleInMotion()
        for index in 1...20 {
            let paint = start + period * Int64(index)
            schedule.noticedChange(at: paint)
            if index != 1 { #expect(schedule.due(changed) == paint + PictureSchedule.settlingInMotion) }
            // The encoder was still busy with another.
            schedule.took(at: paint + (index == 1 ? .milliseconds(lateness) : PictureSchedule.settlingInMotion))
        }
    }

    @Test("what extra pictures take is back within three seconds, even if the scene paints once in each period")
    func extraPictures() {
        var schedule = scheduleInMotion()
        var waited = 0
        for index in 1...60 {
            let paint = start + period * Int64(index)
            schedule.noticedChange(at: paint)
            let due = schedule.due(changed)
            if due > paint + PictureSchedule.settlingInMotion { waited = index }
            schedule.took(at: due)
            if index == 5 || index == 6 { schedule.took(at: due + .milliseconds(2)) }
        }
        #expect(waited > 6)
        #expect(period * Int64(waited - 6) < .seconds(3))
    }

    @Test("however late pictures are, there is at most one more of them than periods")
    func noMoreThanPeriods() {
        var schedule = PictureSchedule(period: period, keepAlive: .milliseconds(2500))
        var random = SeededRandom(seed: 40)
        var now = start
        var taken: [MonotonicTime] = []
        for _ in 1...10_000 {
            schedule.noticedChange(at: now)
            now = max(now, schedule.due(changed)) + .milliseconds(Int64.random(in: 0...90, using: &random))
            schedule.took(at: now)
            taken.append(now)
        }
        for length in [1, 2, 10, 100] {
            let shortest = zip(taken, taken.dropFirst(length + 1)).map { $1 - $0 }.min()
            #expect(shortest.map { $0 >= schedule.spacing * Int64(length) - period / 32 } == true)
        }
    }

    @Test("in motion what is drawn after the beat has a moment to become whole, shorter than after a rest")
    func motionSettlesBriefly() {
        var schedule = scheduleAtRest()
        schedule.noticedChange(at: start + period)
        schedule.took(at: start + period)
        let late = start + period * 2 + .milliseconds(5)
        schedule.noticedChange(at: late)
        #expect(schedule.due(changed) == late + PictureSchedule.settlingInMotion)
        #expect(PictureSchedule.settlingInMotion < PictureSchedule.settling)
        #expect(schedule.settled(at: late + .milliseconds(1)) == .milliseconds(1))
        // The beat stays where it was: what is drawn at the same place of the next period is not later.
        schedule.took(at: late + .milliseconds(1))
        schedule.noticedChange(at: late + period)
        #expect(schedule.due(changed) == late + period + PictureSchedule.settlingInMotion)
    }

    @Test("in motion what is drawn just before the beat becomes whole as well; what was drawn long before doesn't wait")
    func motionAtTheBeat() {
        var schedule = scheduleInMotion()
        schedule.noticedChange(at: start + period)
        schedule.took(at: start + period)
        let beat = schedule.earliest
        schedule.noticedChange(at: beat - Interval(nanoseconds: 100_000))
        #expect(schedule.due(changed) == beat + PictureSchedule.settlingInMotion - Interval(nanoseconds: 100_000))
        #expect(schedule.settled(at: beat + .milliseconds(1)) == .milliseconds(1))
        schedule.took(at: beat)
        schedule.noticedChange(at: beat + .milliseconds(10))
        #expect(schedule.due(changed) == beat + schedule.spacing)
    }

    @Test("what has changed while the host was taking the picture before needs no settling, and goes before refinement")
    func keptBack() {
        for pause in [Interval.milliseconds(10), .seconds(1)] {
            var schedule = scheduleAtRest()
            schedule.noticedChange(at: start + period)
            schedule.took(at: start + period)
            let ready = start + period * 2 + pause
            schedule.noticedChange(at: ready - .milliseconds(5))
            schedule.forgetChange()
            schedule.noticedWholeChange(at: ready)
            schedule.noticedChange(at: ready)
            #expect(schedule.due(changed) <= ready && schedule.isChangeDue(ready))
            #expect(schedule.settled(at: ready + .milliseconds(1)) == .zero)
            schedule.took(at: ready)
            // The next one settles as ever.
            let next = ready + period + .milliseconds(5)
            schedule.noticedChange(at: next)
            #expect(schedule.due(changed) == next + PictureSchedule.settlingInMotion)
        }
    }

    @Test("nothing to do means nothing before the keep-alive")
    func keepAlive() {
        var schedule = scheduleAtRest()
        #expect(schedule.due(quiet) == start + .milliseconds(2500))
        #expect(schedule.isKeepAliveDue(start + .milliseconds(2500)))
        schedule.sentStill(at: start + .milliseconds(2500))
        #expect(schedule.due(quiet) == start + .milliseconds(5000))
    }

    @Test("a keep-alive doesn't move the beat: what changes right after it doesn't wait")
    func keepAliveKeepsBeat() {
        var schedule = scheduleAtRest()
        let later = start + .milliseconds(2500)
        schedule.sentStill(at: later)
        schedule.noticedChange(at: later + .milliseconds(1))
        #expect(schedule.due(changed) == later + .milliseconds(1) + PictureSchedule.settling)
    }

    @Test("a picture that is wanted by name waits for the beat alone, and not even for that after a reset")
    func forcedPicture() {
        var schedule = scheduleInMotion()
        #expect(schedule.due(forced) == schedule.earliest)
        #expect(schedule.earliest > start + period / 2)
        schedule.reset()
        #expect(schedule.due(forced) == .zero)
    }

    @Test("what the rate has no room for waits until it has")
    func held() {
        var schedule = scheduleAtRest()
        let until = start + .milliseconds(300)
        schedule.noticedChange(at: start + .milliseconds(41))
        schedule.hold(until: until, hasPicture: true)
        #expect(schedule.due(changed) == until)
        #expect(!schedule.isChangeDue(until - .milliseconds(1)))
        // The wait is the rate's, not the paint's.
        #expect(schedule.settled(at: until) == .zero)
    }

    @Test("beside something that moves, what has come to rest is made finer five times a second")
    func refinementBesideMotion() {
        var schedule = scheduleAtRest()
        let now = start + .seconds(1)
        schedule.noticedChange(at: now)
        schedule.took(at: now)
        schedule.refined(at: now + .milliseconds(10))
        #expect(!schedule.isRefinementDue(now, now + .milliseconds(200)))
        #expect(schedule.isRefinementDue(now, now + .milliseconds(210)))
    }

    @Test("nothing is due before what held a change back is over, whatever is wanted meanwhile, but for the keep-alive")
    func heldAfterReset() {
        var schedule = scheduleAtRest()
        let now = start + .milliseconds(100)
        schedule.reset()
        schedule.noticedChange(at: now)
        schedule.hold(until: now + .milliseconds(700), hasPicture: true)
        let all = PictureSchedule.Reasons(isForced: true, hasChange: true)
        #expect(schedule.due(all) == now + .milliseconds(700))
        #expect(schedule.isHeld(now))
        // A change that is held for longer than the stream may be silent.
        schedule.hold(until: start + .seconds(9), hasPicture: true)
        #expect(schedule.due(all) == start + .milliseconds(2500))
        schedule.sentStill(at: start + .milliseconds(2500))
        #expect(schedule.due(all) == start + .milliseconds(5000))
        // Another rate holds nothing back any more.
        schedule.release()
        #expect(schedule.due(all) <= now)
    }

    @Test("refinement comes beside the beat, at most once a period")
    func refinement() {
        var schedule = scheduleAtRest()
        let due = start + .milliseconds(200)
        let reasons = PictureSchedule.Reasons(isForced: false, hasChange: false, refinement: due)
        #expect(schedule.due(reasons) == due)
        schedule.refined(at: due)
        #expect(schedule.due(reasons) == due + period)
        #expect(schedule.isRefinementDue(due, due + period))
        // A change right after is not put off by it.
        schedule.noticedChange(at: due + .milliseconds(1))
        #expect(schedule.due(changed) == due + .milliseconds(1) + PictureSchedule.settling)
    }

    @Test("where nobody tells of changes they are looked for at the time that is given, but never off the beat")
    func polling() {
        let schedule = scheduleInMotion()
        let soon = PictureSchedule.Reasons(isForced: false, hasChange: false, poll: start + .milliseconds(5))
        #expect(schedule.due(soon) == schedule.earliest)
        #expect(schedule.earliest > start + period / 2)
        let late = PictureSchedule.Reasons(isForced: false, hasChange: false, poll: start + .milliseconds(500))
        #expect(schedule.due(late) == start + .milliseconds(500))
    }

    @Test("a change that turned out to be none is forgotten, and asking again may have to wait")
    func nothingFound() {
        var schedule = scheduleAtRest()
        let seen = start + .seconds(1)
        schedule.noticedChange(at: seen)
        schedule.foundNothing(at: seen + .milliseconds(3), mayAskAgainAtOnce: true)
        schedule.noticedChange(at: seen + .milliseconds(10))
        #expect(schedule.due(changed) == seen + .milliseconds(10) + PictureSchedule.settling)
        schedule.foundNothing(at: seen + .milliseconds(13), mayAskAgainAtOnce: false)
        schedule.noticedChange(at: seen + .milliseconds(14))
        #expect(schedule.due(changed) == seen + .milliseconds(53))
    }

    @Test("what was painted again as it was delays no change that follows after a rest, but is looked at once a period")
    func unchangedFound() {
        var schedule = scheduleAtRest()
        let seen = start + .seconds(1)
        let beforeKeepAlive = schedule.due(quiet)
        schedule.noticedChange(at: seen)
        schedule.foundUnchanged(at: seen + .milliseconds(2))
        #expect(schedule.due(quiet) == beforeKeepAlive, "viewers were sent nothing")
        schedule.noticedChange(at: seen + .milliseconds(5))
        #expect(schedule.due(changed) == seen + .milliseconds(5) + PictureSchedule.settling)
        // A program that repaints without a pause.
        var looks = 0
        var now = seen + .milliseconds(5)
        while now < seen + .seconds(1) {
            schedule.noticedChange(at: now)
            if schedule.due(changed) <= now {
                schedule.foundUnchanged(at: now)
                looks += 1
            }
            now = now + .milliseconds(1)
        }
        #expect((20...27).contains(looks), "\(looks)")
    }
}
