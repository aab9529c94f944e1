public import MediaTypes

/// How often each bit rate occurred, in fixed buckets from 100 kbit/s to 100 Mbit/s.
///
/// A value: adding a rate allocates nothing. Each histogram belongs to one thread; others get copies.
public struct BitRateHistogram: Sendable {
    /// The upper bounds of the buckets in kbit/s, each inclusive. Higher rates are in one more bucket.
    private static let bounds: InlineArray<12, Int> = [
        100, 250, 500, 1000, 2000, 3000, 5000, 8000, 12_000, 20_000, 50_000, 100_000,
    ]

    private var counts = InlineArray<13, UInt64>(repeating: 0)
    /// The number of bit rates.
    public private(set) var count: UInt64 = 0
    /// The sum of the bit rates, in bits per second.
    public private(set) var sum = 0.0

    /// A histogram without any bit rate.
    public init() {}

    /// Adds a bit rate.
    public mutating func add(_ rate: BitRate) {
        let index = Self.bounds.indices.first { rate.bitsPerSecond <= Self.bounds[$0] * 1000 } ?? Self.bounds.count
        counts[index] &+= 1
        count &+= 1
        sum += Double(rate.bitsPerSecond)
    }

    /// Adds all bit rates of another histogram.
    public mutating func add(_ other: BitRateHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        count &+= other.count
        sum += other.sum
    }

    /// The buckets with a bound, the lowest first: the bound, and how many bit rates are not higher than it.
    public var buckets: [(bound: BitRate, count: UInt64)] {
        var total: UInt64 = 0
        return Self.bounds.indices.map { index in
            total &+= counts[index]
            return (BitRate(bitsPerSecond: Self.bounds[index] * 1000), total)
        }
    }
}
