import CongestionControl
import MediaTypes
import RTP
import Testing

@Suite("A probe")
struct ProbeTests {
    @Test("has so many bytes that what an idle link passes at once is a small part of them", arguments: [1, 3, 80])
    func size(hundredKilobits: Int) throws {
        let initial = BitRate(bitsPerSecond: hundredKilobits * 100_000)
        var controller = CongestionController(limits: .init(initial: initial), at: .zero)
        let plan = controller.plan(waiting: .max, at: .zero)
        let probe = try #require(plan.probe)
        #expect(probe.minByteCount >= 3000)
        #expect(probe.minByteCount >= probe.rate.bitsPerSecond / 8 / 50)
    }

    @Test("that a busy machine sent too slowly says nothing, and the next one comes soon", arguments: [false, true])
    func tooSlow(isLate: Bool) throws {
        var controller = CongestionController(limits: .init(initial: BitRate(bitsPerSecond: 500_000)), at: .zero)
        var now = MonotonicTime.zero
        /// Sends the probe that is planned next at a part of its rate over a path that delays nothing.
        func probe(_ part: Double) throws -> BitRate {
            let end = now + .seconds(5)
            while controller.plan(waiting: .max, at: now).probe == nil, now < end { now = now + .milliseconds(10) }
            let cluster = try #require(controller.plan(waiting: .max, at: now).probe)
            var arrivals: [TransportFeedback.Arrival] = []
            let base = controller.nextSequenceNumber
            // In units of 250 us, as feedback tells it.
            let units = Int64(8000 * 4000 / (part * Double(cluster.rate.bitsPerSecond)))
            let gap = Interval.microseconds(units * 250)
            let begin = now
            while controller.plan(waiting: .max, at: now).probe != nil {
                controller.packetSent(byteCount: 1000, at: now)
                arrivals.append(.received(delta: arrivals.isEmpty ? 0 : Int16(units)))
                now = now + gap
            }
            controller.receive(
                TransportFeedback(
                    sender: SSRC(1), media: SSRC(2), base: base,
                    referenceTime: Int32(begin.nanoseconds / 64_000_000), feedbackCount: 0, arrivals: arrivals), at: now
            )
            return cluster.rate
        }
        // The first one is answered at once by one at twice what it has shown.
        _ = try probe(1)
        let sent = now
        let rate = try probe(isLate ? 0.6 : 1)
        #expect(now - sent < .milliseconds(200))
        let again = try probe(1)
        #expect(now - sent < .milliseconds(isLate ? 1000 : 400))
        #expect(isLate ? abs(again.bitsPerSecond - rate.bitsPerSecond) < rate.bitsPerSecond / 20 : again > rate)
    }
}
