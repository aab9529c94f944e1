import MediaTypes
import Testing

@Suite("Histograms of delays")
struct DelayHistogramTests {
    @Test("nothing has no quantile, and no delay in any bucket")
    func empty() {
        let histogram = DelayHistogram()
        #expect(histogram.quantile(0.5) == nil && histogram.count == 0 && histogram.sum == .zero)
        #expect(histogram.buckets.allSatisfy { $0.count == 0 })
    }

    @Test("a bound belongs to its bucket, what is beyond the last one counts, and what is negative is none")
    func bounds() throws {
        var histogram = DelayHistogram()
        for delay in [.microseconds(250), Interval(nanoseconds: 250_001), .seconds(2), .seconds(3), .seconds(-1)] {
            histogram.add(delay)
        }
        let buckets = histogram.buckets
        #expect(buckets[0].bound == .microseconds(250) && buckets[0].count == 2)
        #expect(buckets[1].bound == .microseconds(500) && buckets[1].count == 3)
        let last = try #require(buckets.last)
        #expect(last.bound == .seconds(2) && last.count == 4 && histogram.count == 5)
        #expect(histogram.sum == .seconds(5) + Interval(nanoseconds: 500_001))
        #expect(histogram.quantile(1) == .seconds(2))
        #expect(zip(buckets, buckets.dropFirst()).allSatisfy { $0.bound < $1.bound && $0.count <= $1.count })
    }

    @Test("quantiles are off by half of a bucket at most, and two histograms add up")
    func quantiles() throws {
        var (first, second) = (DelayHistogram(), DelayHistogram())
        for number in 1...500 { first.add(.microseconds(Int64(number) * 100)) }
        for number in 501...1000 { second.add(.microseconds(Int64(number) * 100)) }
        first.add(second)
        #expect(first.count == 1000)
        for percent in [5, 25, 50, 75, 95] {
            let found = try #require(first.quantile(Double(percent) / 100)).seconds
            let truth = Double(percent) / 1000
            #expect(abs(found - truth) < truth / 4, "\(percent)")
        }
    }

    @Test("sums beyond what can be counted stay at the most")
    func saturation() {
        var histogram = DelayHistogram()
        histogram.add(Interval(nanoseconds: .max))
        histogram.add(Interval(nanoseconds: .max))
        #expect(histogram.sum == Interval(nanoseconds: .max) && histogram.count == 2)
    }
}
