import CongestionControl
import MediaTypes
import RTP
import Testing

@Suite("A receiver's clock that is set")
struct ClockJumpTests {
    @Test("a jump of several seconds, either way, is no queue", arguments: [5, 3, -5] as [Int64])
    func jump(seconds: Int64) {
        var controller = CongestionController(limits: .init(initial: BitRate(bitsPerSecond: 2_000_000)), at: .zero)
        var offset: Int64 = 640
        var arrivals: [(number: UInt16, quarters: Int64)] = []
        func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }
        for millisecond in Int64(1)...12_000 {
            if millisecond == 6_000 { offset += seconds * 1000 }
            if millisecond % 5 == 0 {
                // The packets arrive 20 ms after they were sent.
                arrivals.append((controller.nextSequenceNumber, (millisecond + 20 + offset) * 4))
                controller.packetSent(byteCount: 1000, at: time(millisecond))
            }
            guard millisecond % 100 == 0, let first = arrivals.first else { continue }
            var last = first.quarters / 256 * 256
            let feedback = TransportFeedback(
                sender: SSRC(1), media: SSRC(2), base: first.number, referenceTime: Int32(last / 256), feedbackCount: 0,
                arrivals: arrivals.map { arrival in
                    defer { last = arrival.quarters }
                    return .received(delta: Int16(clamping: arrival.quarters - last))
                })
            controller.receive(feedback, at: time(millisecond + 45))
            arrivals = []
            let plan = controller.plan(waiting: 0, at: time(millisecond + 45))
            #expect(plan.estimate.bitsPerSecond >= 1_600_000, "at \(millisecond) ms")
            #expect(plan.queueingDelay <= .milliseconds(50), "at \(millisecond) ms")
        }
    }
}
