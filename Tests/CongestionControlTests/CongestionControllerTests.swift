import CongestionControl
import MediaTypes
import RTP
import TestSupport
import Testing

private func milliseconds(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000) }

private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1_000_000)) }

@Suite("The congestion controller's edges")
struct CongestionControllerTests {
    private func feedback(
        _ arrivals: [TransportFeedback.Arrival], base: UInt16, referenceTime: Int32
    ) -> TransportFeedback {
        TransportFeedback(
            sender: SSRC(1), media: SSRC(2), base: base, referenceTime: referenceTime, feedbackCount: 0,
            arrivals: arrivals)
    }

    @Test("sequence numbers and the reference time wrap without a trace in the estimate")
    func wrap() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        var lowest = BitRate(bitsPerSecond: .max)
        // Feedback each 64 ms about 64 packets; the reference time wraps after 64 of them.
        let arrivals = (0..<64).map { TransportFeedback.Arrival.received(delta: $0 == 0 ? 0 : 4) }
        for round in Int64(0)..<1100 {
            let base = controller.nextSequenceNumber
            for packet in Int64(0)..<64 {
                controller.packetSent(byteCount: 250, at: milliseconds(round * 64 + packet))
            }
            let now = milliseconds(round * 64 + 104)
            controller.receive(
                feedback(arrivals, base: base, referenceTime: Int32((0xFF_FFC0 + round) & 0xFF_FFFF)), at: now)
            lowest = min(lowest, controller.plan(waiting: 0, at: now).estimate)
        }
        #expect(lowest >= megabits(2))
        #expect(controller.plan(waiting: 0, at: milliseconds(71_000)).queueingDelay < .milliseconds(5))
    }

    @Test("if feedback stops, sending nearly stops")
    func silence() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        controller.packetSent(byteCount: 1200, at: milliseconds(1))
        controller.receive(feedback([.received(delta: 0)], base: 0, referenceTime: 5), at: milliseconds(41))
        for time in Int64(50)..<2000 { controller.packetSent(byteCount: 250, at: milliseconds(time)) }
        #expect(controller.plan(waiting: 10_000, at: milliseconds(2000)).pacingRate <= megabits(0.1))
    }

    @Test("feedback that waits to be read is neither silence nor a longer path", arguments: [0, 5000] as [Int64])
    func unreadFeedback(waitsFrom start: Int64) {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        var lowest = BitRate(bitsPerSecond: .max)
        let arrivals = (0..<64).map { TransportFeedback.Arrival.received(delta: $0 == 0 ? 0 : 4) }
        var unread: [(arrival: Int64, feedback: TransportFeedback)] = []
        for time in Int64(0)..<10_000 {
            controller.packetSent(byteCount: 250, at: milliseconds(time))
            // Each feedback is about 64 packets, and arrives 40 ms after the last of them was sent.
            let (round, rest) = (time - 103).quotientAndRemainder(dividingBy: 64)
            if round >= 0, rest == 0 {
                let base = UInt16(truncatingIfNeeded: round * 64)
                unread.append((time, feedback(arrivals, base: base, referenceTime: Int32(round))))
            }
            let wait: Int64 = time < start ? 0 : 400
            while let first = unread.first, first.arrival + wait <= time {
                unread.removeFirst()
                controller.receive(first.feedback, arrival: milliseconds(first.arrival), at: milliseconds(time))
                lowest = min(lowest, controller.plan(waiting: 0, at: milliseconds(time)).pacingRate)
            }
        }
        #expect(lowest >= megabits(2))
        // If feedback stops, the earlier waits don't delay the reaction.
        for time in Int64(10_000)..<10_500 { controller.packetSent(byteCount: 250, at: milliseconds(time)) }
        #expect(controller.plan(waiting: 0, at: milliseconds(10_500)).pacingRate <= megabits(0.1))
    }

    @Test("feedback made up by a hostile peer neither traps nor leaves the bounds")
    func hostileFeedback() {
        var random = SeededRandom(seed: 14)
        var controller = CongestionController(at: .zero)
        for step in Int64(1)..<3000 {
            let now = milliseconds(step * 7)
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                controller.packetSent(byteCount: Int.random(in: -5..<2000, using: &random), at: now)
            }
            var arrivals: [TransportFeedback.Arrival] = []
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                arrivals.append(
                    Bool.random(using: &random)
                        ? .notReceived
                        : .received(
                            delta: Bool.random(using: &random) ? Int16.random(in: .min ... .max, using: &random) : 4)
                )
            }
            let isNear = Bool.random(using: &random)
            controller.receive(
                feedback(
                    arrivals,
                    base: isNear ? controller.nextSequenceNumber &- 20 : UInt16.random(in: 0 ... .max, using: &random),
                    referenceTime: Int32.random(in: .min ... .max, using: &random)),
                arrival: now - .milliseconds(step % 3 * 500), at: now)
            let plan = controller.plan(waiting: Int.random(in: 0..<9000, using: &random), at: now)
            #expect((100_000...100_000_000).contains(plan.estimate.bitsPerSecond))
            #expect(plan.pacingRate.bitsPerSecond > 0)
            #expect(plan.queueingDelay >= .zero)
        }
        controller.receive(feedback([.received(delta: .max)], base: 1, referenceTime: .min), at: .zero)
        #expect(controller.plan(waiting: 0, at: .distantFuture).estimate.bitsPerSecond > 0)
    }
}
