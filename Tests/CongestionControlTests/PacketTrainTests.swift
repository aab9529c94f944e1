import CongestionControl
import MediaTypes
import Testing

@Suite("Single pictures show where the link ends")
struct PacketTrainTests {
    /// A source that takes a part of the link, on a path that was taken to carry much more.
    private func simulation(_ link: SimulatedLink.Conditions, most: Double, seconds: Double, seed: UInt64) -> Simulation
    {
        let limits = CongestionController.Limits(initial: BitRate(bitsPerSecond: 17_000_000))
        var simulation = Simulation(
            link: link,
            senders: [SimulatedSender(flow: 0, source: .init(most: most), limits: limits, seed: seed)],
            feedbackInterval: 50, seed: seed)
        simulation.run(seconds: seconds)
        return simulation
    }

    @Test("to a source that never fills it", arguments: [0.1, 0.2, 0.5, 0.7, 0.85] as [Double])
    func partOfLink(share: Double) {
        for seed in 1...3 as ClosedRange<UInt64> {
            let simulation = simulation(.init(rate: 8e6), most: 8e6 * share, seconds: 20, seed: seed)
            let shares = simulation.shares(5..<20)
            #expect((shares.max() ?? 9) <= 1 && (shares.min() ?? 0) >= 0.6)
            // It gets what it wants all the while.
            #expect(simulation.sentRate(5..<20) >= 0.9 * 8e6 * share)
        }
    }

    @Test("to a source that nearly fills it, even where jitter makes some of them uneven", arguments: [4, 5, 6])
    func uneven(jitter: Double) {
        for seed in 1...8 as ClosedRange<UInt64> {
            let link = SimulatedLink.Conditions(rate: 4e6, jitter: jitter, jitterLength: 10)
            let shares = simulation(link, most: 3.45e6, seconds: 40, seed: seed).shares(5..<40)
            #expect((shares.max() ?? 9) <= 1 && (shares.min() ?? 0) >= 0.6)
        }
    }

    @Test("and that it has moved away again")
    func fasterLink() {
        let simulation = simulation(.init(rate: 8e6, changes: [(10, 16e6)]), most: 6e6, seconds: 25, seed: 1)
        #expect(simulation.sample(at: 9.9).estimate <= 8e6)
        #expect(simulation.sample(at: 20).estimate >= 9.6e6)
    }

    @Test("and that it has moved away, even where jitter makes them uneven", arguments: [4, 6])
    func fasterUnevenLink(jitter: Double) {
        for seed in 1...4 as ClosedRange<UInt64> {
            let link = SimulatedLink.Conditions(
                rate: 4e6, changes: [(10, 16e6)], jitter: jitter, jitterLength: 10)
            let simulation = simulation(link, most: 3.45e6, seconds: 20, seed: seed)
            #expect(simulation.sample(at: 9.9).estimate <= 4e6)
            #expect(simulation.sample(at: 19.9).estimate >= 4.8e6)
        }
    }

    @Test("jitter doesn't look like a link that the source fills", arguments: 1...4 as ClosedRange<UInt64>)
    func jitter(seed: UInt64) {
        let simulation = simulation(.init(rate: 1e8, jitter: 20, jitterLength: 10), most: 4e6, seconds: 20, seed: seed)
        #expect(simulation.sentRate(5..<20) >= 0.9 * 4e6)
    }
}
