import CongestionControl
import Testing

@Suite("A still screen says nothing about the link")
struct StillScreenTests {
    @Test("a minute of it changes nothing, and a repaint after it is paced by the last good estimate")
    func stillMinute() {
        let source = SimulatedSender.Source(moves: [0..<10, 70..<80], firstByteCount: 60_000)
        let simulation = run(.init(rate: 5e5), seconds: 80, source: source)
        let still = simulation.shares(11..<70)
        #expect(still.min() == still.max())
        #expect((0.6...1).contains(still[0]))
        let repaint = simulation.sample(at: 70.1)
        #expect(repaint.estimate == simulation.sample(at: 69).estimate)
        #expect((repaint.estimate...repaint.estimate * 2).contains(repaint.pacing))
        // The link needs 0.96 s for the repaint's bytes.
        let first = simulation.pictures[0].first { $0.madeAt >= 70 }
        #expect((first?.delay ?? .infinity) <= 960 + 500)
        #expect((simulation.shares(70..<80).min() ?? 0) >= 0.6)
    }

    @Test("the first picture after a minute may find a faster link")
    func fasterLink() {
        let source = SimulatedSender.Source(moves: [0..<10, 70..<80], firstByteCount: 60_000)
        let simulation = run(.init(rate: 5e5, changes: [(40, 4e6)]), seconds: 80, source: source)
        #expect(simulation.sample(at: 69).estimate <= 5e5)
        #expect(simulation.sample(at: 75).estimate >= 0.6 * 4e6)
    }

    @Test("typing neither raises nor lowers the estimate")
    func typing() {
        let simulation = run(.init(rate: 2e6), seconds: 40, source: .init(most: 100_000))
        let typing = simulation.shares(5..<40)
        #expect((typing.max() ?? 9) - (typing.min() ?? 0) < 0.05)
        #expect(simulation.senders[0].paddingByteCount < 20_000)
    }
}
