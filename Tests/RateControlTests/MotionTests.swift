import Glibc
import MediaTypes
import Testing

@testable import RateControl

@Suite("RateControl in motion")
struct MotionTests {
    @Test("what a change costs is forgotten while pictures are moved, little by little")
    func forgetting() {
        var controller = RateController(
            bitRate: BitRate(bitsPerSecond: 4_000_000), period: .microseconds(33_333))
        func expected() -> Double { controller.expectedBytes(macroblocks: 1_500, qp: 20, isMoved: false) }
        var now = MonotonicTime.zero
        func code(_ macroblocks: Int, bytes: Int, isMoved: Bool) {
            now = now + .milliseconds(80)
            let decision = controller.decide(.change, macroblocks: macroblocks, isMoved: isMoved, now: now)
            controller.coded(decision, qp: 20, byteCount: bytes, now: now)
        }
        for _ in 0..<5 { code(280, bytes: 37_800, isMoved: false) }
        let dear = expected()
        #expect(dear > 1_500 * 100)
        code(300, bytes: 25_000, isMoved: true)
        #expect(expected() > dear / 2)
        for _ in 0..<40 { code(300, bytes: 25_000, isMoved: true) }
        #expect(expected() < dear / 5)
    }

    @Test("where a slow link would leave few frames, a lowest frame rate keeps more of them, coarser")
    func lowestFrameRate() {
        func run(maxStep: Interval?) -> (framesPerSecond: Int, qp: Int) {
            var controller = RateController(
                bitRate: BitRate(bitsPerSecond: 500_000), period: .microseconds(33_333))
            controller.maxStep = maxStep
            var (now, count, qp) = (MonotonicTime.zero, 0, 0)
            while now < .zero + .seconds(20) {
                let start = controller.start(.change, now: now)
                guard start <= now else {
                    now = start
                    continue
                }
                let decision = controller.decide(.change, macroblocks: 3_600, isMoved: false, now: now)
                let bytes = 60_000 * exp2(Double(20 - decision.qp) / 6)
                controller.coded(decision, qp: decision.qp, byteCount: Int(bytes), now: now)
                (count, qp) = (now < .zero + .seconds(10) ? 0 : count + 1, decision.qp)
                now = now + .microseconds(33_333)
            }
            return (count / 10, qp)
        }
        let (free, kept) = (run(maxStep: nil), run(maxStep: .milliseconds(40)))
        #expect(free.framesPerSecond < 20 && kept.framesPerSecond >= 24, "\(free), \(kept)")
        #expect(kept.qp > free.qp)
    }
}
