/// The samples of one source that wait to be mixed, in slots that follow each other without a hole.
///
/// Its memory is reserved once. Not thread-safe.
final class SlotQueue {
    /// Whether the source delivers, so that it makes sense to wait for it.
    var isAwaited = false
    /// Interleaved.
    let channelCount: Int

    private var samples: [Float]
    /// The samples in use, of all channels, at the beginning of `samples`.
    private var count = 0
    /// The slot of the first sample.
    private var first = Slot(number: 0)

    /// The most slots that wait: one second. Some devices report sound that much before it is heard.
    private static let capacity = 50
    private var slotCount: Int { Slot.frameCount * channelCount }

    /// An empty queue.
    init(channelCount: Int) {
        self.channelCount = channelCount
        samples = [Float](repeating: 0, count: Self.capacity * Slot.frameCount * channelCount)
    }

    /// The first slot, if all of its samples are there.
    var firstComplete: Slot? { count >= slotCount ? first : nil }

    /// Whether there are samples, and all of them belong to slots after `slot`.
    func begins(after slot: Slot) -> Bool { count > 0 && first > slot }

    /// Begins a new run at `slot`, or, where there are samples up to a later slot already, at that one. Returns the
    /// slot.
    func beginRun(at slot: Slot) -> Slot {
        endRun()
        let end = first + count / slotCount
        if count > 0, slot <= end { return end }
        if count > 0, slot.number - first.number <= Int64(Self.capacity) {
            appendSilence(Int(slot.number - end.number) * slotCount)
        } else {
            count = 0
            first = slot
        }
        return slot
    }

    /// Fills the last slot with silence, and waits for the source no longer.
    func endRun() {
        isAwaited = false
        let part = count % slotCount
        if part > 0 { appendSilence(slotCount - part) }
    }

    /// Appends interleaved samples. If there are too many, the first slots go.
    func append(_ new: UnsafeBufferPointer<Float>) {
        isAwaited = true
        let kept = UnsafeBufferPointer(rebasing: new.suffix(samples.count))
        makeRoom(kept.count)
        guard let source = kept.baseAddress else { return }
        samples.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            (base + count).update(from: source, count: kept.count)
        }
        count += kept.count
    }

    /// Adds `gain` times the first slot, which must be complete, to `mixed`, and removes it.
    func takeFirst(gain: Float, into mixed: inout [Float]) {
        for index in 0..<min(slotCount, mixed.count) { mixed[index] += gain * samples[index] }
        drop(1)
    }

    /// Removes complete slots before `slot`.
    func drop(before slot: Slot) {
        guard first < slot else { return }
        drop(min(count / slotCount, Int(clamping: slot.number - first.number)))
    }

    /// Removes everything.
    func removeAll() {
        count = 0
        isAwaited = false
    }

    /// Appends so many samples of each channel.
    func appendSilence(frames: Int) { appendSilence(frames * channelCount) }

    private func appendSilence(_ added: Int) {
        makeRoom(added)
        for index in count..<min(count + added, samples.count) { samples[index] = 0 }
        count = min(count + added, samples.count)
    }

    private func makeRoom(_ added: Int) {
        let excess = count + added - samples.count
        if excess > 0 { drop((excess + slotCount - 1) / slotCount) }
    }

    private func drop(_ slots: Int) {
        let dropped = min(slots * slotCount, count)
        guard dropped > 0 else { return }
        let left = count - dropped
        samples.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            base.update(from: base + dropped, count: left)
        }
        count = left
        first = first + slots
    }
}
