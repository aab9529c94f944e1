import MediaTypes

/// A stretch of 20 ms on CLOCK_MONOTONIC: the sound of one packet. All sources use the same slots, so that they can be
/// mixed, and the packets of a run follow each other exactly.
struct Slot: Hashable, Comparable {
    /// The number of slots between the clock's origin and this one.
    var number: Int64

    /// Samples of each channel in a slot, at 48 kHz.
    static let frameCount = 960
    static let duration = Interval.milliseconds(20)
    static let sampleRate = 48_000.0

    /// The slot of this number.
    init(number: Int64) {
        self.number = number
    }

    /// The first slot that doesn't begin before `time`.
    init(notBefore time: MonotonicTime) {
        let (whole, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: Self.duration.nanoseconds)
        number = rest > 0 ? whole + 1 : whole
    }

    /// When the slot begins.
    var time: MonotonicTime { MonotonicTime(nanoseconds: number * Self.duration.nanoseconds) }
    /// When it ends.
    var end: MonotonicTime { time + Self.duration }

    static func < (left: Slot, right: Slot) -> Bool { left.number < right.number }
    static func + (slot: Slot, count: Int) -> Slot { Slot(number: slot.number + Int64(count)) }
}
