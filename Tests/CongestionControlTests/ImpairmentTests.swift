import CongestionControl
import MediaTypes
import Testing

@Suite("What is not congestion does not cut the rate")
struct ImpairmentTests {
    @Test("random loss keeps most of the rate", arguments: [0.01, 0.05, 0.1, 0.2])
    func randomLoss(loss: Double) {
        for rate in [5e5, 2e6] {
            let simulation = run(.init(rate: rate, loss: loss), seconds: 20, seed: 5)
            #expect((simulation.shares(5..<20).min() ?? 0) >= 0.5)
            #expect(simulation.sentRate(5..<20) >= 0.75 * rate)
            #expect(mean(simulation.shares(5..<20)) >= 0.8)
            #expect(simulation.worstCut(5..<20) <= 0.21)
        }
    }

    struct Impairment: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var link: SimulatedLink.Conditions
    }

    static let impairments = [
        Impairment(testDescription: "bursts of 5 lost", link: .init(rate: 2e6, loss: 0.05, burst: 5)),
        Impairment(testDescription: "jitter of ± 20 ms", link: .init(rate: 2e6, jitter: 20)),
        Impairment(testDescription: "jitter that reorders", link: .init(rate: 2e6, jitter: 20, keepsOrder: false)),
        Impairment(testDescription: "10 % overtaken by 30 ms", link: .init(rate: 2e6, reordered: 0.1)),
        Impairment(testDescription: "20 % twice", link: .init(rate: 2e6, duplicated: 0.2)),
        Impairment(
            testDescription: "all of it",
            link: .init(rate: 2e6, loss: 0.05, burst: 5, jitter: 20, reordered: 0.05, duplicated: 0.2)),
    ]

    @Test("it costs no more than a fifth at a time", arguments: impairments)
    func impairment(_ impairment: Impairment) {
        for seed in UInt64(1)...2 {
            let simulation = run(impairment.link, seconds: 20, seed: seed)
            #expect(simulation.worstCut(5..<20) <= 0.21, "seed \(seed)")
            #expect((simulation.shares(5..<20).min() ?? 0) >= 0.5, "seed \(seed)")
            #expect(longest(over: 1.1, in: simulation.shares(5..<20)) <= 1, "seed \(seed)")
        }
    }

    @Test("jitter that begins later is not taken for a full link by a source that sends little", arguments: 1...4)
    func laterJitter(seed: UInt64) {
        let simulation = run(
            .init(rate: 1e8, queue: 1000, jitter: 20, jitterStart: 15, jitterLength: 10), seconds: 35,
            source: .init(moves: [0..<10, 10.1..<20, 20.1..<30, 30.1..<35], most: 750_000, firstByteCount: 180_000),
            feedbackInterval: 50, seed: seed)
        let before = simulation.shares(10..<15).max() ?? 0
        #expect(before > 0.1)
        #expect((simulation.shares(15..<35).min() ?? 0) >= 0.8 * before)
    }

    @Test("loss that sending less avoids does cut it: a queue of 30 ms on a lossy link")
    func congestionLoss() {
        let simulation = run(.init(rate: 2e6, queue: 30, loss: 0.02), seconds: 20)
        #expect(mean(simulation.shares(5..<20)) <= 1.1)
        #expect(mean(simulation.shares(5..<20)) >= 0.6)
    }
}
