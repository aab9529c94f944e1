import MediaTypes
import RateControl
import TestSupport
import Testing

@Suite("Rate controller")
struct RateControllerTests {
    @Test("a constant quantizer is given at once, whatever the rate")
    func constant() {
        var controller = RateController(
            bitRate: BitRate(bitsPerSecond: 10_000), period: .milliseconds(33), constantQuantizer: 23)
        for _ in 0..<10 {
            #expect(controller.decide(.change, macroblocks: 8160, now: .zero) == .encode(quantizer: 23))
            controller.coded(.change, macroblocks: 8160, quantizer: 23, byteCount: 1_000_000, now: .zero)
        }
        #expect(controller.refinementAllowance(now: .zero).macroblocks == 0)
    }
}
