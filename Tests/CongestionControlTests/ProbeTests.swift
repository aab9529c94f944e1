import CongestionControl
import MediaTypes
import Testing

@Suite("A probe")
struct ProbeTests {
    @Test("has so many bytes that what an idle link passes at once is a small part of them", arguments: [1, 3, 80])
    func size(hundredKilobits: Int) throws {
        let initial = BitRate(bitsPerSecond: hundredKilobits * 100_000)
        var controller = CongestionController(limits: .init(initial: initial), at: .zero)
        let plan = controller.plan(waiting: .max, at: .zero)
        let probe = try #require(plan.probe)
        #expect(probe.minimumByteCount >= 3000)
        #expect(probe.minimumByteCount >= probe.rate.bitsPerSecond / 8 / 50)
    }
}
