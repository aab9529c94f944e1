import CongestionControl
import MediaTypes
import TestSupport
import Testing

private func milliseconds(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000) }

private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1_000_000)) }

@Suite("The congestion controller's edges")
struct CongestionControllerTests {
    /// A peer without transport-wide feedback: `rate` is sent all the time, and a report comes each second.
    private func reports(
        _ count: Int64, loss: UInt8, roundTrip: (Int64) -> Interval?, controller: inout CongestionController,
        from start: Int64 = 0
    ) {
        for second in start..<start + count {
            let bytes = controller.plan(waiting: 0, at: milliseconds(second * 1000)).estimate.bitsPerSecond / 80
            for tenth in Int64(0)..<10 {
                controller.packetSent(byteCount: bytes, at: milliseconds(second * 1000 + tenth * 100 + 50))
            }
            controller.receive(
                fractionLost: loss, roundTripTime: roundTrip(second), at: milliseconds(second * 1000 + 1000))
        }
    }

    private func estimate(_ controller: inout CongestionController, at second: Int64) -> Double {
        Double(controller.plan(waiting: 0, at: milliseconds(second * 1000)).estimate.bitsPerSecond)
    }

    @Test("without transport-wide feedback, loss alone keeps the rate, and loss with a queue cuts it")
    func receiverReports() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        reports(10, loss: 26, roundTrip: { _ in .milliseconds(40) }, controller: &controller)
        #expect(estimate(&controller, at: 10) >= 2e6)
        reports(5, loss: 26, roundTrip: { _ in .milliseconds(340) }, controller: &controller, from: 10)
        #expect(estimate(&controller, at: 15) < 2.5e6)
        reports(10, loss: 26, roundTrip: { _ in .milliseconds(340) }, controller: &controller, from: 15)
        #expect(estimate(&controller, at: 25) < 1e6)
        #expect(estimate(&controller, at: 25) >= 1e5)
    }

    @Test("without transport-wide feedback and without a round trip, heavy loss cuts the rate")
    func lossOnly() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        reports(10, loss: 64, roundTrip: { _ in nil }, controller: &controller)
        #expect(estimate(&controller, at: 10) < 1e6)
    }

    @Test("a peer's REMB is an upper bound, and no more")
    func remoteMaximum() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        controller.receive(maximum: megabits(0.7))
        #expect(controller.plan(waiting: 0, at: .zero).estimate == megabits(0.7))
        controller.receive(maximum: megabits(9))
        #expect(controller.plan(waiting: 0, at: .zero).estimate == megabits(2))
        controller.receive(maximum: BitRate(bitsPerSecond: -1))
        #expect(controller.plan(waiting: 0, at: .zero).estimate == megabits(0.1))
    }

    @Test("sequence numbers and the reference time wrap without a trace in the estimate")
    func wrap() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        var lowest = BitRate(bitsPerSecond: .max)
        // Feedback each 64 ms about 64 packets; the reference time wraps after 64 of them.
        let arrivals = (0..<64).map { PacketArrival.received(delta: $0 == 0 ? 0 : 4) }
        for round in Int64(0)..<1100 {
            let base = controller.nextSequenceNumber
            for packet in Int64(0)..<64 {
                controller.packetSent(byteCount: 250, at: milliseconds(round * 64 + packet))
            }
            let now = milliseconds(round * 64 + 104)
            controller.receive(
                arrivals, base: base, referenceTime: Int32((0xFF_FFC0 + round) & 0xFF_FFFF), at: now)
            lowest = min(lowest, controller.plan(waiting: 0, at: now).estimate)
        }
        #expect(lowest >= megabits(2))
        #expect(controller.plan(waiting: 0, at: milliseconds(71_000)).queueDelay < .milliseconds(5))
    }

    @Test("if feedback stops, sending nearly stops")
    func silence() {
        var controller = CongestionController(limits: .init(initial: megabits(2)), at: .zero)
        controller.packetSent(byteCount: 1200, at: milliseconds(1))
        controller.receive([.received(delta: 0)], base: 0, referenceTime: 5, at: milliseconds(41))
        for time in Int64(50)..<2000 { controller.packetSent(byteCount: 250, at: milliseconds(time)) }
        #expect(controller.plan(waiting: 10_000, at: milliseconds(2000)).pacingRate <= megabits(0.1))
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
            var arrivals: [PacketArrival] = []
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                arrivals.append(
                    Bool.random(using: &random)
                        ? .notReceived
                        : .received(
                            delta: Bool.random(using: &random) ? Int.random(in: -32768...32767, using: &random) : 4)
                )
            }
            let isNear = Bool.random(using: &random)
            controller.receive(
                arrivals,
                base: isNear ? controller.nextSequenceNumber &- 20 : UInt16.random(in: 0 ... .max, using: &random),
                referenceTime: Int32.random(in: .min ... .max, using: &random), at: now)
            let plan = controller.plan(waiting: Int.random(in: 0..<9000, using: &random), at: now)
            #expect((100_000...100_000_000).contains(plan.estimate.bitsPerSecond))
            #expect(plan.pacingRate.bitsPerSecond > 0)
            #expect(plan.queueDelay >= .zero)
        }
        controller.receive([.received(delta: .max)], base: 1, referenceTime: .min, at: .zero)
        #expect(controller.plan(waiting: 0, at: .distantFuture).estimate.bitsPerSecond > 0)
    }
}
