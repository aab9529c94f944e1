import Testing

@Suite("A link that falls from 4 Mbit/s and comes back")
struct LinkChangeTests {
    struct Fall: Sendable {
        var low: Double
        var queue: Double
        var feedbackInterval: Int64
    }

    static let falls = [5e5, 3e5].flatMap { low in
        [100.0, 300, 1000].flatMap { queue in
            [Int64(50), 100].map { Fall(low: low, queue: queue, feedbackInterval: $0) }
        }
    }

    /// For each second. The end of a rise is found by rising a little past it.
    private static let right = 0.6...1.08

    @Test("the estimate follows within 5 s, and pictures are never more than half a second late", arguments: falls)
    func fallAndRise(fall: Fall) {
        let simulation = run(
            .init(rate: 4e6, changes: [(10, fall.low), (22, 4e6)], queue: fall.queue), seconds: 34,
            feedbackInterval: fall.feedbackInterval, seed: 3)
        #expect(secondMeans(simulation.shares(5..<10)).allSatisfy { Self.right.contains($0) })
        #expect(secondMeans(simulation.shares(15..<22)).allSatisfy { Self.right.contains($0) })
        #expect(secondMeans(simulation.shares(27..<34)).allSatisfy { Self.right.contains($0) })
        #expect(simulation.delay95(12..<22) <= 500)
        #expect(simulation.sample(at: 12).queue <= 150)
        #expect(simulation.pictures[0].filter { (12..<22).contains($0.madeAt) }.count >= 12 * 10)
    }

    @Test("pauses between large pictures don't lower it", arguments: falls)
    func largePictures(fall: Fall) {
        let simulation = run(
            .init(rate: 4e6, changes: [(10, fall.low), (30, 4e6)], queue: fall.queue), seconds: 40,
            source: .init(most: 3.5e6, minByteCount: 9000), feedbackInterval: fall.feedbackInterval, seed: 2)
        #expect(secondMeans(simulation.shares(15..<30)).allSatisfy { Self.right.contains($0) })
    }

    @Test(
        "it does so for a source that sends no more than 1.5 Mbit/s, and that has its full rate 5 s later",
        arguments: falls)
    func smallSource(fall: Fall) {
        let simulation = run(
            .init(rate: 4e6, changes: [(10, fall.low), (22, 4e6)], queue: fall.queue), seconds: 34,
            source: .init(most: 1.5e6), feedbackInterval: fall.feedbackInterval, seed: 2)
        #expect(secondMeans(simulation.shares(15..<22)).allSatisfy { Self.right.contains($0) })
        #expect(simulation.delay95(12..<22) <= 500)
        #expect(simulation.sentRate(27..<34) >= 0.9 * 1.5e6)
        #expect((simulation.shares(27..<34).max() ?? 9) <= 1.1)
    }

    @Test("a fall that is lost rather than delayed is found too: the queue holds 50 ms")
    func shallowQueue() {
        let simulation = run(.init(rate: 4e6, changes: [(10, 1e6)], queue: 50), seconds: 20)
        #expect(secondMeans(simulation.shares(15..<20)).allSatisfy { (0.6...1.1).contains($0) })
    }
}
