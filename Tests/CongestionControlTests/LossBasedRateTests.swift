import CongestionControl
import MediaTypes
import Testing

private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1_000_000)) }

@Suite("The rate that loss allows")
struct LossBasedRateTests {
    @Test("without loss nothing holds the source back")
    func noLoss() {
        var rate = LossBasedRate()
        for _ in 0..<100 { rate.report(fractionLost: 0, sent: megabits(2)) }
        #expect(rate.target == LossBasedRate.highest)
    }

    @Test("heavy loss takes the rate below what was sent")
    func heavyLoss() {
        var rate = LossBasedRate()
        rate.report(fractionLost: 64, sent: megabits(4))
        #expect(rate.target < megabits(4))
        #expect(rate.target > megabits(3))
    }

    @Test("some loss is the path's own: five percent change nothing")
    func someLoss() {
        var rate = LossBasedRate()
        rate.report(fractionLost: 128, sent: megabits(4))
        let before = rate.target
        for _ in 0..<20 { rate.report(fractionLost: 13, sent: megabits(4)) }
        #expect(rate.target == before)
    }

    @Test("lasting loss stops at the lowest rate, and the way up ends at the highest")
    func bounds() {
        var rate = LossBasedRate()
        for _ in 0..<200 { rate.report(fractionLost: 255, sent: rate.target) }
        #expect(rate.target == LossBasedRate.lowest)
        for _ in 0..<400 { rate.report(fractionLost: 0, sent: rate.target) }
        #expect(rate.target == LossBasedRate.highest)
    }

    @Test("one bad path among many does not hold the others down")
    func shared() {
        #expect(sharedTarget(of: []) == nil)
        #expect(sharedTarget(of: [megabits(1)]) == megabits(1))
        #expect(sharedTarget(of: [megabits(8), megabits(1), megabits(8), megabits(8), megabits(8)]) == megabits(8))
    }
}
