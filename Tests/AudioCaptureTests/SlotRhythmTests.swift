import MediaTypes
import TestSupport
import Testing

@testable import AudioCapture

@Suite("When the capture of sound looks for samples")
struct SlotRhythmTests {
    /// What capturing for a while has cost.
    private struct Outcome {
        var slots = 0
        /// How often the thread has woken.
        var wakes = 0
        /// By how much each slot was found later than it was complete.
        var delays: [Interval] = []

        /// The longest of these, except for the slots from which it first learns.
        var worst: Interval { delays.dropFirst(100).max() ?? .zero }
    }

    /// Captures so many slots of samples that come in blocks of `block`, each `ahead` of its end and up to `jitter`
    /// later, as the agent does: it sleeps until the rest's end, and after that until the next block.
    private func captured(
        _ count: Int, block: Interval, ahead: Interval = .zero, jitter: Interval = .zero, rests: Bool = true
    ) -> Outcome {
        var random = SeededRandom(seed: 5)
        let first = Slot(number: 50_000)
        var arrivals: [MonotonicTime] = []
        for index in 1...Int64(count + 10) * 5 {
            let late = Interval(nanoseconds: Int64.random(in: 0...jitter.nanoseconds, using: &random))
            let time = first.time + Interval(nanoseconds: block.nanoseconds * index) - ahead + late
            arrivals.append(max(time, arrivals.last ?? time))
        }
        /// When the slot is complete.
        func completion(_ slot: Slot) -> MonotonicTime {
            let blocks = ((slot.end - first.time).nanoseconds + block.nanoseconds - 1) / block.nanoseconds
            return arrivals[Int(blocks) - 1]
        }
        var outcome = Outcome()
        var rhythm = SlotRhythm()
        var next = first
        var taken = 0
        var now = arrivals[0]
        while outcome.slots < count {
            while arrivals[taken] <= now { taken += 1 }
            let before = next
            while completion(next) <= now {
                outcome.delays.append(now - completion(next))
                next = next + 1
            }
            let found = Int(next.number - before.number)
            outcome.slots += found
            outcome.wakes += 1
            rhythm.looked(found > 0 ? before + (found - 1) : nil, count: found, at: now)
            now = rhythm.restEnd.flatMap { rests && $0 > now ? $0 : nil } ?? arrivals[taken]
        }
        return outcome
    }

    @Test(
        "it wakes little more than once for each slot, however short the blocks are, and finds a slot soon",
        arguments: [5_000, 10_000, 12_500, 20_000, 21_333])
    func blocks(microseconds: Int64) {
        let block = Interval.microseconds(microseconds)
        let outcome = captured(3_000, block: block, ahead: block, jitter: .microseconds(300))
        #expect(outcome.wakes < 3_000 * 115 / 100)
        // Where slots and blocks don't begin together, the looks are as late as the latest.
        #expect(outcome.worst <= (microseconds == 12_500 ? .milliseconds(12) : .milliseconds(2)))
    }

    @Test("without it, each block wakes")
    func withoutRest() {
        #expect(captured(3_000, block: .milliseconds(5), rests: false).wakes > 11_000)
    }

    @Test("blocks that come irregularly make it look later, but no later than the latest of them")
    func jitter() {
        let outcome = captured(3_000, block: .milliseconds(10), jitter: .milliseconds(5))
        #expect(outcome.wakes < 3_000 * 125 / 100)
        #expect(outcome.worst <= .milliseconds(7))
    }

    /// A rhythm that rests after `slot`, which was found at its end.
    private func resting(after slot: Slot) -> SlotRhythm {
        var rhythm = SlotRhythm()
        for slot in [Slot(number: slot.number - 1), slot] {
            rhythm.looked(nil, count: 0, at: slot.end - .milliseconds(10))
            rhythm.looked(slot, count: 1, at: slot.end)
        }
        return rhythm
    }

    @Test("after a single slot that came late it is soon as early as before")
    func oneLate() throws {
        var slot = Slot(number: 50_000)
        var rhythm = resting(after: slot)
        func lateness() throws -> Interval { try #require(rhythm.restEnd) - (slot + 1).end }
        #expect(try lateness() == .zero, "it never rests longer than a slot")
        slot = slot + 1
        rhythm.looked(nil, count: 0, at: slot.end)
        rhythm.looked(slot, count: 1, at: slot.end + .milliseconds(80))
        let late = try lateness()
        #expect(late <= .milliseconds(3))
        for _ in 0..<40 {
            slot = slot + 1
            rhythm.looked(slot, count: 1, at: try #require(rhythm.restEnd))
        }
        #expect(try lateness() <= late - .milliseconds(1))
    }

    @Test("several slots at once show that it looked too late")
    func severalAtOnce() throws {
        let slot = Slot(number: 50_000)
        var rhythm = resting(after: slot)
        // The samples now come long before they are heard.
        rhythm.looked(slot + 20, count: 20, at: slot.end + .milliseconds(20))
        #expect(try #require(rhythm.restEnd) <= slot.end + .milliseconds(40))
        rhythm.looked(slot + 21, count: 1, at: slot.end + .milliseconds(40))
        #expect(try #require(rhythm.restEnd) <= slot.end + .milliseconds(60))
    }

    @Test("it doesn't rest before blocks have woken it for nothing, nor where slots are never there afterwards")
    func longBlocks() {
        var slot = Slot(number: 50_000)
        var fresh = SlotRhythm()
        fresh.looked(slot, count: 1, at: slot.end)
        fresh.looked(nil, count: 0, at: slot.end + .milliseconds(5))
        fresh.looked(slot + 1, count: 1, at: (slot + 1).end)
        #expect(fresh.restEnd == nil)
        var rhythm = resting(after: slot)
        var rests = 0
        while let restEnd = rhythm.restEnd, rests < 100 {
            rests += 1
            slot = slot + 1
            rhythm.looked(nil, count: 0, at: restEnd)
            rhythm.looked(slot, count: 1, at: restEnd + .milliseconds(3))
        }
        #expect(rests == 5)
    }
}
