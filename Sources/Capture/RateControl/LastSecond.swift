import MediaTypes

/// What was sent within the last second, in a ring of fixed size.
///
/// It counts the time that each picture occupies the link at the rate of that moment, rather than bytes. A change of
/// the rate therefore takes effect at once, and pictures that kept to the old rate are not charged twice.
struct LastSecond: Sendable {
    private struct Entry {
        var time: MonotonicTime
        var linkTime: Interval
    }

    /// The most that a sliding second carries: 3 % more than the requested rate, so that a picture that turns out
    /// larger than expected stays within 10 %.
    static let limit = Interval.milliseconds(1030)
    private static let length = Interval.seconds(1)
    /// Room for 240 pictures a second and a few that are empty.
    private static let capacity = 256

    private var entries = [Entry](repeating: Entry(time: .zero, linkTime: .zero), count: Self.capacity)
    private var first = 0
    private var count = 0
    private var sum = Interval.zero

    mutating func add(_ linkTime: Interval, _ now: MonotonicTime) {
        while count > 0, entries[first].time <= now - Self.length { removeFirst() }
        sum = sum + linkTime
        if count == Self.capacity {
            // The ring is full: the last entry stands for both pictures and expires with the later one.
            let last = (first + count - 1) % Self.capacity
            entries[last] = Entry(time: now, linkTime: entries[last].linkTime + linkTime)
            return
        }
        entries[(first + count) % Self.capacity] = Entry(time: now, linkTime: linkTime)
        count += 1
    }

    /// How much more link time the second that ends at `now` may carry.
    func room(_ now: MonotonicTime) -> Interval {
        var carried = sum
        for offset in 0..<count {
            let entry = entries[(first + offset) % Self.capacity]
            if entry.time > now - Self.length { break }
            carried = carried - entry.linkTime
        }
        return max(.zero, Self.limit - carried)
    }

    /// The earliest time at which there is room for a picture that needs `linkTime`; a picture that is too large for
    /// any second gets a whole second of its own.
    func free(for linkTime: Interval, _ now: MonotonicTime) -> MonotonicTime {
        let linkTime = min(linkTime, Self.limit)
        var carried = sum
        if carried + linkTime <= Self.limit { return now }
        var time = now
        for offset in 0..<count {
            let entry = entries[(first + offset) % Self.capacity]
            carried = carried - entry.linkTime
            time = max(now, entry.time + Self.length)
            if carried + linkTime <= Self.limit { return time }
        }
        return time
    }

    private mutating func removeFirst() {
        sum = sum - entries[first].linkTime
        first = (first + 1) % Self.capacity
        count -= 1
    }
}
