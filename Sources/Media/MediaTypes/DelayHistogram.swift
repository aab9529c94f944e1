/// How often each delay occurred, in fixed buckets from 250 µs to 2 s.
///
/// A value: it takes 200 bytes, and adding a delay allocates nothing. Each histogram belongs to one thread; others get
/// copies.
public struct DelayHistogram: Sendable {
    /// The upper bounds of the buckets in microseconds, each inclusive. Longer delays are in one more bucket.
    private static let bounds: InlineArray<22, Int64> = [
        250, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12_000, 16_000, 24_000, 32_000, 48_000, 64_000, 96_000,
        128_000, 192_000, 256_000, 512_000, 1_000_000, 2_000_000,
    ]

    private var counts = InlineArray<23, UInt64>(repeating: 0)
    /// The number of delays.
    public private(set) var count: UInt64 = 0
    /// The sum of the delays; saturates.
    public private(set) var sum = Interval.zero

    /// A histogram without any delay.
    public init() {}

    /// Adds a delay. A negative one, which two clocks can cause, counts as none.
    public mutating func add(_ delay: Interval) {
        let delay = max(delay, .zero)
        var (low, high) = (0, Self.bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if delay.nanoseconds <= Self.bounds[middle] * 1000 { high = middle } else { low = middle + 1 }
        }
        counts[low] &+= 1
        count &+= 1
        sum = sum + delay
    }

    /// Adds all delays of another histogram.
    public mutating func add(_ other: DelayHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        count &+= other.count
        sum = sum + other.sum
    }

    /// The buckets with a bound, the shortest first: the bound, and how many delays are not longer than it.
    public var buckets: [(bound: Interval, count: UInt64)] {
        var total: UInt64 = 0
        return Self.bounds.indices.map { index in
            total &+= counts[index]
            return (.microseconds(Self.bounds[index]), total)
        }
    }

    /// The delay that a fraction of the delays, 0 to 1, doesn't exceed, interpolated within its bucket; nil if there
    /// are none. A delay beyond the last bound counts as that bound.
    public func quantile(_ fraction: Double) -> Interval? {
        guard count > 0 else { return nil }
        let rank = max(1, min(max(fraction, 0), 1) * Double(count))
        var before: UInt64 = 0
        for index in Self.bounds.indices {
            let through = before &+ counts[index]
            if Double(through) >= rank {
                let (lower, upper) = (index == 0 ? 0 : Self.bounds[index - 1], Self.bounds[index])
                let part = (rank - Double(before)) / Double(counts[index])
                return Interval(nanoseconds: lower * 1000 + Int64(Double((upper - lower) * 1000) * part))
            }
            before = through
        }
        return .microseconds(Self.bounds[Self.bounds.count - 1])
    }
}
