import Testing

@testable import Signalling

@Suite("The sound that is under way to a page")
struct AudioFlowTests {
    @Test("no more sound is under way than a round trip and 300 ms, and a confirmation makes room for the newest")
    func limit() {
        var flow = AudioFlow(maxWait: 300_000)
        #expect((0..<25).map { flow.next(at: $0 * 20_000) } == (1...25).map { UInt32($0) })
        #expect(flow.next(at: 500_000) == 26 && flow.next(at: 520_000) == nil && flow.next(at: 9_000_000) == nil)
        #expect(!flow.confirm(through: 27, at: 9_000_000) && !flow.confirm(through: 0, at: 9_000_000))
        #expect(flow.confirm(through: 26, at: 9_000_000) && !flow.confirm(through: 26, at: 9_000_000))
        // Who confirms late has no round trip of nine seconds.
        #expect(flow.next(at: 10_000_000) == 27 && flow.confirm(through: 27, at: 10_050_000))
        #expect(flow.next(at: 11_000_000) == 28 && flow.next(at: 11_350_000) == 29)
        #expect(flow.next(at: 11_351_000) == nil)
    }

    @Test("a round trip that has grown is believed after ten seconds, and one that has shrunk at once")
    func longerPath() {
        var flow = AudioFlow(maxWait: 300_000)
        #expect(play(&flow, from: 0, to: 5_000_000, trip: 50_000).leftOut.isEmpty)
        let grown = play(&flow, from: 6_000_000, to: 40_000_000, trip: 700_000).leftOut
        #expect(!grown.isEmpty && grown.allSatisfy { $0 < 18_000_000 })
        #expect(play(&flow, from: 41_000_000, to: 50_000_000, trip: 50_000).leftOut.isEmpty)
        #expect(!play(&flow, from: 51_000_000, to: 60_000_000, trip: 700_000).leftOut.isEmpty)
    }

    @Test(
        "a path that carries only a part of the sound isn't taken for a longer one",
        arguments: [(rate: 0.5, longest: 850_000), (rate: 0.99, longest: 450_000)])
    func slowPath(_ rate: Double, longest: Int) {
        var flow = AudioFlow(maxWait: 300_000)
        let slow = play(&flow, from: 0, to: 200_000_000, trip: 50_000, rate: rate)
        #expect(slow.longest < longest && !slow.leftOut.isEmpty)
    }

    /// Sends 20 ms of sound again and again for the time from `begin` to `end`, on a path whose confirmations take
    /// `trip`; with `rate`, it carries only so much of a second of sound in a second. Returns when packets were left
    /// out, and the longest that one was under way.
    private func play(
        _ flow: inout AudioFlow, from begin: Int, to end: Int, trip: Int, rate: Double = 1000
    ) -> (leftOut: [Int], longest: Int) {
        var underWay: [(number: UInt32, sentAt: Int, confirmedAt: Int)] = []
        var leftOut: [Int] = []
        var (longest, freeAt) = (0, begin)
        for now in stride(from: begin, to: end, by: 20_000) {
            while let first = underWay.first, first.confirmedAt <= now {
                underWay.removeFirst()
                longest = max(longest, first.confirmedAt - first.sentAt)
                _ = flow.confirm(through: first.number, at: first.confirmedAt)
            }
            guard let number = flow.next(at: now) else {
                leftOut.append(now)
                continue
            }
            freeAt = max(freeAt, now) + Int(20_000 / rate)
            underWay.append((number, now, freeAt + trip))
        }
        for rest in underWay { _ = flow.confirm(through: rest.number, at: rest.confirmedAt) }
        return (leftOut, longest)
    }
}
