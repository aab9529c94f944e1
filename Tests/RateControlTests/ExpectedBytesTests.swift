import MediaTypes
import RateControl
import Testing

@Suite("Expected bytes")
struct ExpectedBytesTests {
    /// A rate control that has coded pictures of 1000 macroblocks, with so many bytes each.
    private func rate(moved: Int, others: Int) -> RateController {
        var rate = RateController(bitRate: BitRate(bitsPerSecond: 4_000_000), period: .milliseconds(33))
        for number in 0..<40 {
            let now = MonotonicTime(nanoseconds: Int64(number + 1) * 50_000_000)
            let isMoved = number % 2 == 0
            _ = rate.start(.change, now: now)
            let decision = rate.decide(.change, macroblocks: 1000, isMoved: isMoved, now: now)
            rate.coded(decision, qp: 26, byteCount: 1000 * (isMoved ? moved : others), now: now)
        }
        return rate
    }

    @Test("what moving leaves is expected to have what such pictures had, and so is what changes without it")
    func moving() {
        for (moved, others) in [(60, 12), (20, 80)] {
            let rate = rate(moved: moved, others: others)
            let rest = rate.expectedBytes(macroblocks: 500, qp: 26, isMoved: true)
            let whole = rate.expectedBytes(macroblocks: 1500, qp: 26, isMoved: false)
            #expect(abs(rest - Double(500 * moved)) < Double(500 * moved) / 5)
            #expect(abs(whole - Double(1500 * others)) < Double(1500 * others) / 5)
            #expect((rest < whole) == (moved == 20))
        }
    }
}
