import MediaTypes

/// Mixes the slots of all sources. Sums beyond the range of samples are limited to -1 and 1.
///
/// A source that delivers nothing is waited for until `timeout` after the slot has ended; then the others go on without
/// it, and its later samples for the slot are dropped. A value without I/O; the time is an argument.
struct AudioMixer {
    /// The mixed samples of the slot that `mix` returned, interleaved.
    private(set) var mixed: [Float]
    /// When `mix` has something to do even if nothing has arrived.
    private(set) var due = MonotonicTime.distantFuture

    private let queues: [SlotQueue]
    private let gains: [Float]
    /// The first slot that may still be mixed.
    private var next: Slot?

    /// More than the latency of a wireless microphone.
    private static let timeout = Interval.milliseconds(150)

    /// A mixer of these queues, each with its gain as a factor.
    init(_ inputs: [(queue: SlotQueue, gain: Float)], channelCount: Int) {
        queues = inputs.map(\.queue)
        gains = inputs.map(\.gain)
        mixed = [Float](repeating: 0, count: Slot.frameCount * channelCount)
    }

    /// Mixes the next slot if it is complete. Returns nil if there is none, or one is waited for until `due`.
    mutating func mix(_ now: MonotonicTime) -> Slot? {
        due = .distantFuture
        guard let slot = firstComplete() else { return nil }
        let limit = slot.end + Self.timeout
        for queue in queues where queue.isAwaited && queue.firstComplete != slot && !queue.begins(after: slot) {
            guard now >= limit else {
                due = limit
                return nil
            }
            queue.isAwaited = false
        }
        for index in mixed.indices { mixed[index] = 0 }
        for (queue, gain) in zip(queues, gains) where queue.firstComplete == slot {
            queue.takeFirst(gain: gain, into: &mixed)
        }
        for index in mixed.indices { mixed[index] = max(-1, min(mixed[index], 1)) }
        next = slot + 1
        return slot
    }

    /// Drops all waiting slots.
    mutating func removeAll() {
        for queue in queues { queue.removeAll() }
        due = .distantFuture
    }

    private func firstComplete() -> Slot? {
        var result: Slot?
        for queue in queues {
            if let next { queue.drop(before: next) }
            if let slot = queue.firstComplete, slot < result ?? Slot(number: .max) { result = slot }
        }
        return result
    }
}
