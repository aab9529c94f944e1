import CongestionControl
import MediaTypes
import Testing

@Suite("The estimate finds what a link carries")
struct ConvergenceTests {
    @Test("on fifty links it is right within 5 s, and never over 110 % for more than 1 s")
    func fiftyLinks() {
        for seed in UInt64(1)...50 {
            let simulation = run(seededLink(seed), seconds: 9, seed: seed)
            let settled = simulation.shares(5..<9)
            #expect((settled.min() ?? 0) >= 0.6, "seed \(seed)")
            #expect((secondMeans(settled).max() ?? 9) <= 1.05, "seed \(seed)")
            #expect(longest(over: 1.1, in: simulation.shares(0..<9)) <= 1, "seed \(seed)")
        }
    }

    @Test("two flows share a link fairly, whenever the second one comes", arguments: [0.0, 10], [5e5, 2e6])
    func twoFlows(secondAt: Double, rate: Double) {
        for seed in UInt64(1)...3 {
            var simulation = Simulation(
                link: .init(rate: rate),
                senders: [
                    SimulatedSender(flow: 0, source: .init(), seed: seed),
                    SimulatedSender(flow: 1, start: Int64(secondAt * 1e9), source: .init(), seed: seed + 100),
                ], seed: seed)
            simulation.run(seconds: 60)
            let first = simulation.sentRate(30..<60, flow: 0)
            let second = simulation.sentRate(30..<60, flow: 1)
            #expect((0.4...0.6).contains(second / (first + second)), "seed \(seed)")
            #expect(first + second > 0.8 * rate, "seed \(seed)")
        }
    }

    @Test("a source that uses three quarters of the link does not make the estimate exceed it")
    func smallSource() {
        let simulation = run(.init(rate: 2e6), seconds: 20, source: .init(most: 1.5e6))
        #expect(longest(over: 1.1, in: simulation.shares(0..<20)) <= 1)
        #expect((simulation.shares(5..<20).min() ?? 0) >= 0.6)
    }

    @Test("a fall of a link by a third or a half is found as well as a large one", arguments: [1e6, 1.4e6])
    func smallFall(low: Double) {
        let simulation = run(.init(rate: 2e6, changes: [(10, low)]), seconds: 20)
        #expect(secondMeans(simulation.shares(15..<20)).allSatisfy { (0.6...1.05).contains($0) })
        #expect(simulation.delay95(12..<20) <= 200)
    }
}
