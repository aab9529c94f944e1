import MediaTypes

/// A path with a queue, and a viewer behind it that confirms at most every 20 ms.
struct ConfirmingPath {
    var rate: BitRate
    var roundTrip = Interval.milliseconds(40)
    /// How long the viewer takes for each picture.
    var viewerDelay = Interval.milliseconds(3)
    /// Until then it confirms nothing.
    var silentUntil = MonotonicTime.zero
    private(set) var confirmations: [(number: UInt32, at: MonotonicTime)] = []
    private var freeAt = MonotonicTime.zero
    private var confirmedAt = MonotonicTime.zero

    init(_ bitsPerSecond: Int) { rate = BitRate(bitsPerSecond: bitsPerSecond) }

    mutating func send(_ number: UInt32, byteCount: Int, now: MonotonicTime) {
        freeAt = max(freeAt, now) + Interval(nanoseconds: Int64(byteCount) * 8_000_000_000 / Int64(rate.bitsPerSecond))
        let there = max(freeAt + roundTrip + viewerDelay, silentUntil)
        if let last = confirmations.last, there <= last.at {
            confirmations[confirmations.count - 1].number = number
        } else {
            confirmations.append((number, max(there, confirmedAt + .milliseconds(20))))
            confirmedAt = confirmations[confirmations.count - 1].at
        }
    }

    /// The next confirmation that has come by `now`.
    mutating func next(by now: MonotonicTime) -> (number: UInt32, at: MonotonicTime)? {
        guard let first = confirmations.first, first.at <= now else { return nil }
        return confirmations.removeFirst()
    }
}
