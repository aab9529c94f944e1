import MediaTypes
import OutputLife
import Testing

@Suite("A bit rate that follows the path")
struct AdaptiveRateTests {
    /// An encoder, a queue and a path, second by second. Gives the rates.
    private func run(
        _ rate: inout AdaptiveRate, path: Double, seconds: Range<Int>, buffered: inout Double
    ) -> [Double] {
        let buffer = 1_000_000.0
        return seconds.map { second in
            buffered += Double(rate.rate.bitsPerSecond)
            let sent = min(buffered, path)
            buffered -= sent
            // The system's own buffer hides the first megabit.
            let age = Interval.milliseconds(Int64(max(0, buffered - buffer) / path * 1000))
            _ = rate.update(
                queueAge: age, sent: BitRate(bitsPerSecond: Int(sent)), at: .zero + .seconds(Int64(second)))
            return Double(rate.rate.bitsPerSecond)
        }
    }

    private let lowest = BitRate(bitsPerSecond: 200_000)
    private let highest = BitRate(bitsPerSecond: 1_000_000)

    @Test("falls to what goes through, and comes back within 30 s", arguments: [300_000.0, 500_000, 250_000])
    func fall(path: Double) {
        var rate = AdaptiveRate(lowest: lowest, highest: highest)
        var buffered = 0.0
        #expect(run(&rate, path: 2e6, seconds: 0..<20, buffered: &buffered).allSatisfy { $0 == 1e6 })
        let slow = run(&rate, path: path, seconds: 20..<80, buffered: &buffered)
        let settled = slow[20...]
        #expect(settled.allSatisfy { $0 >= 200_000 })
        let mean = settled.reduce(0, +) / Double(settled.count)
        #expect(mean <= path * 1.05 && mean >= path * 0.6, "\(mean) of \(path)")
        #expect(buffered <= 1_000_000 + 3 * path)
        let free = run(&rate, path: 2e6, seconds: 80..<110, buffered: &buffered)
        #expect(free.last == 1e6)
    }

    @Test("never falls under its floor, however little goes through")
    func floor() {
        var rate = AdaptiveRate(lowest: lowest, highest: highest)
        var buffered = 0.0
        #expect(run(&rate, path: 50_000, seconds: 0..<100, buffered: &buffered).min() == 200_000)
    }

    @Test("falls while packets are lost, keeps its rate while few are, and rises once none is")
    func losses() {
        var rate = AdaptiveRate(lowest: lowest, highest: highest)
        func second(_ number: Int64, lost: Double) -> Int {
            _ = rate.update(queueAge: .zero, sent: rate.rate, lostShare: lost, at: .zero + .seconds(number))
            return rate.rate.bitsPerSecond
        }
        #expect(second(1, lost: 0.2) == 680_000)
        // However much is lost, half of the rate may go through.
        #expect(second(2, lost: 0.9) == 289_000)
        #expect((3...20).allSatisfy { second($0, lost: 0.1) == 289_000 })
        #expect(second(21, lost: 0) == 289_000 && second(40, lost: 0) > 289_000)
    }

    @Test("a floor above the ceiling is the ceiling, and a wait alone changes nothing")
    func edges() {
        var rate = AdaptiveRate(lowest: highest, highest: lowest)
        #expect(rate.rate == lowest)
        let changes = [Interval.milliseconds(300), .seconds(2)].map {
            rate.update(queueAge: $0, sent: lowest, at: .zero + $0)
        }
        #expect(changes == [false, false])
        #expect(rate.rate == lowest)
    }
}
