import MediaTypes
import Testing

@testable import RateControl

@Suite("RateControl in motion")
struct MotionTests {
    @Test("what a change costs is forgotten while pictures are moved, little by little")
    func forgetting() {
        var controller = RateController(
            bitRate: BitRate(bitsPerSecond: 4_000_000), period: .microseconds(33_333))
        func expected() -> Double { controller.expectedBytes(macroblocks: 1_500, quantizer: 20, isMoved: false) }
        var now = MonotonicTime.zero
        func code(_ macroblocks: Int, bytes: Int, isMoved: Bool) {
            now = now + .milliseconds(80)
            let decision = controller.decide(.change, macroblocks: macroblocks, isMoved: isMoved, now: now)
            controller.coded(decision, quantizer: 20, byteCount: bytes, now: now)
        }
        for _ in 0..<5 { code(280, bytes: 37_800, isMoved: false) }
        let dear = expected()
        #expect(dear > 1_500 * 100)
        code(300, bytes: 25_000, isMoved: true)
        #expect(expected() > dear / 2)
        for _ in 0..<40 { code(300, bytes: 25_000, isMoved: true) }
        #expect(expected() < dear / 5)
    }
}
