import AudioCoding
import MediaTypes
import Testing

@testable import AudioCapture

@Suite("The mixer of sound")
struct AudioMixerTests {
    private let first = SlotQueue(channelCount: 1)
    private let second = SlotQueue(channelCount: 1)
    private let slot = Slot(number: 1000)
    /// Long after all slots of these tests.
    private let late = Slot(number: 100_000).time

    private func append(_ value: Float, slots: Int = 1, to queue: SlotQueue) {
        let samples = [Float](repeating: value, count: slots * Slot.frameCount)
        samples.withUnsafeBufferPointer { queue.append($0) }
    }

    @Test("adds what belongs to the same time, each source with its gain, and limits the sum")
    func sum() {
        var mixer = AudioMixer([(first, 1), (second, 2)], channelCount: 1)
        _ = first.beginRun(at: slot)
        _ = second.beginRun(at: slot + 1)
        for value: Float in [0.25, 0.25, 0.5] { append(value, to: first) }
        append(0.125, to: second)
        append(0.5, to: second)
        var mixed: [[Float]] = []
        var slots: [Slot] = []
        while let next = mixer.mix(slot.time) {
            slots.append(next)
            mixed.append(mixer.mixed)
        }
        #expect(slots == [slot, slot + 1, slot + 2])
        #expect(mixed == [0.25, 0.5, 1].map { [Float](repeating: $0, count: Slot.frameCount) })
    }

    @Test("waits for a source that is late, then goes on without it, and drops what it delivers too late")
    func stalled() {
        var mixer = AudioMixer([(first, 1), (second, 1)], channelCount: 1)
        _ = first.beginRun(at: slot)
        _ = second.beginRun(at: slot)
        append(0.5, slots: 3, to: first)
        append(0.25, to: second)
        #expect(mixer.mix(slot.time) == slot)
        #expect(mixer.mixed[0] == 0.75)
        #expect(mixer.mix(slot.time) == nil)
        let due = mixer.due
        #expect(due > slot.time && due < slot.time + .milliseconds(300))
        #expect(mixer.mix(due) == slot + 1)
        #expect(mixer.mixed[0] == 0.5)
        // From now on, nobody waits for it.
        #expect(mixer.mix(due) == slot + 2)
        append(0.25, slots: 3, to: second)
        append(0.5, to: first)
        #expect(mixer.mix(due) == slot + 3)
        #expect(mixer.mixed[0] == 0.75)
        #expect(mixer.mix(due) == nil)
    }

    @Test("doesn't wait for a source that has ended, whose last slot is filled with silence")
    func ended() {
        var mixer = AudioMixer([(first, 1), (second, 1)], channelCount: 1)
        _ = first.beginRun(at: slot)
        _ = second.beginRun(at: slot)
        let half = [Float](repeating: 1, count: 240)
        half.withUnsafeBufferPointer { second.append($0) }
        append(0.5, slots: 2, to: first)
        #expect(mixer.mix(slot.time) == nil)
        second.endRun()
        #expect(mixer.mix(slot.time) == slot)
        #expect(mixer.mixed[239] == 1 && mixer.mixed[240] == 0.5)
        #expect(mixer.mix(slot.time) == slot + 1)
        #expect(mixer.due == .distantFuture)
    }

    @Test("a run after a gap keeps its times, and one that would overlap begins where the last one ends")
    func runs() {
        var mixer = AudioMixer([(first, 1)], channelCount: 1)
        #expect(first.beginRun(at: slot) == slot)
        append(0.5, slots: 2, to: first)
        #expect(first.beginRun(at: slot + 1) == slot + 2)
        append(0.25, to: first)
        #expect(first.beginRun(at: slot + 5) == slot + 5)
        append(0.125, to: first)
        var values: [Int64: Float] = [:]
        while let next = mixer.mix(late) { values[next.number - slot.number] = mixer.mixed[0] }
        #expect(values == [0: 0.5, 1: 0.5, 2: 0.25, 3: 0, 4: 0, 5: 0.125])
        #expect(first.beginRun(at: slot + 1000) == slot + 1000)
        append(0.5, to: first)
        #expect(mixer.mix(late) == slot + 1000)
    }

    @Test("a queue that nobody empties keeps the latest 400 ms")
    func bounded() {
        var mixer = AudioMixer([(first, 1)], channelCount: 1)
        _ = first.beginRun(at: slot)
        for _ in 0..<100 { append(0.5, to: first) }
        #expect(mixer.mix(late) == slot + 50)
    }

    @Test("silence is passed for 300 ms after sound, sound at once, and a quiet tone is no silence")
    func gate() {
        var gate = SilenceGate()
        let silence = [Float](repeating: 1e-5, count: 960)
        var quiet = silence
        quiet[959] = -1e-4
        let first = [gate.passes(silence), gate.passes(quiet)]
        #expect(first == [false, true])
        let passed = (0..<100).filter { _ in gate.passes(silence) }
        #expect(passed == Array(0..<15))
        let again = [gate.passes(quiet), gate.passes(silence)]
        #expect(again == [true, true])
    }
}
