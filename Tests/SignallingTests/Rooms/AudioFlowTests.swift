import MediaTypes
import Testing

@testable import Signalling

private func at(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
}

@Suite("The sound that is under way to a page")
struct AudioFlowTests {
    @Test("no more sound is under way than a round trip and 300 ms, and a confirmation makes room for the newest")
    func limit() {
        var flow = AudioFlow(maxWait: .milliseconds(300))
        #expect((Int64(0)..<25).map { flow.next(at: at($0 * 20)) } == (1...25).map { UInt32($0) })
        #expect(flow.next(at: at(500)) == 26 && flow.next(at: at(520)) == nil && flow.next(at: at(9000)) == nil)
        #expect(!flow.confirm(through: 27, at: at(9000)) && !flow.confirm(through: 0, at: at(9000)))
        #expect(flow.confirm(through: 26, at: at(9000)) && !flow.confirm(through: 26, at: at(9000)))
        // Who confirms late has no round trip of nine seconds.
        #expect(flow.next(at: at(10_000)) == 27 && flow.confirm(through: 27, at: at(10_050)))
        #expect(flow.next(at: at(11_000)) == 28 && flow.next(at: at(11_350)) == 29)
        #expect(flow.next(at: at(11_351)) == nil)
    }

    @Test("a round trip that has grown is believed after ten seconds, and one that has shrunk at once")
    func longerPath() {
        var flow = AudioFlow(maxWait: .milliseconds(300))
        #expect(play(&flow, from: at(0), to: at(5000), trip: .milliseconds(50)).leftOut.isEmpty)
        let grown = play(&flow, from: at(6000), to: at(40_000), trip: .milliseconds(700)).leftOut
        #expect(!grown.isEmpty && grown.allSatisfy { $0 < at(18_000) })
        #expect(play(&flow, from: at(41_000), to: at(50_000), trip: .milliseconds(50)).leftOut.isEmpty)
        #expect(!play(&flow, from: at(51_000), to: at(60_000), trip: .milliseconds(700)).leftOut.isEmpty)
    }

    @Test(
        "a path that carries only a part of the sound isn't taken for a longer one",
        arguments: [
            (rate: 0.5, longest: Interval.milliseconds(850)), (rate: 0.99, longest: Interval.milliseconds(450)),
        ])
    func slowPath(_ rate: Double, longest: Interval) {
        var flow = AudioFlow(maxWait: .milliseconds(300))
        let slow = play(&flow, from: at(0), to: at(200_000), trip: .milliseconds(50), rate: rate)
        #expect(slow.longest < longest && !slow.leftOut.isEmpty)
    }

    /// Sends 20 ms of sound again and again for the time from `begin` to `end`, on a path whose confirmations take
    /// `trip`; with `rate`, it carries only so much of a second of sound in a second. Returns when packets were left
    /// out, and the longest that one was under way.
    private func play(
        _ flow: inout AudioFlow, from begin: MonotonicTime, to end: MonotonicTime, trip: Interval, rate: Double = 1000
    ) -> (leftOut: [MonotonicTime], longest: Interval) {
        var underWay: [(number: UInt32, sentAt: MonotonicTime, confirmedAt: MonotonicTime)] = []
        var leftOut: [MonotonicTime] = []
        var (now, freeAt, longest) = (begin, begin, Interval.zero)
        while now < end {
            defer { now = now + .milliseconds(20) }
            while let first = underWay.first, first.confirmedAt <= now {
                underWay.removeFirst()
                longest = max(longest, first.confirmedAt - first.sentAt)
                _ = flow.confirm(through: first.number, at: first.confirmedAt)
            }
            guard let number = flow.next(at: now) else {
                leftOut.append(now)
                continue
            }
            freeAt = max(freeAt, now) + .microseconds(Int64(20_000 / rate))
            underWay.append((number, now, freeAt + trip))
        }
        for rest in underWay { _ = flow.confirm(through: rest.number, at: rest.confirmedAt) }
        return (leftOut, longest)
    }
}
