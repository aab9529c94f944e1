import MediaTypes
import RateControl
import Testing

@Suite("Expected bytes")
struct ExpectedBytesTests {
    /// A rate control that has coded pictures of 1000 macroblocks, with so many bytes each: one after a rest, and one
    /// that follows it.
    private func rate(new: Int, others: Int) -> RateController {
        var rate = RateController(bitRate: BitRate(bitsPerSecond: 4_000_000), period: .milliseconds(33))
        for number in 0..<40 {
            let isNew = number % 2 == 0
            let now = MonotonicTime(nanoseconds: Int64(number / 2 + 1) * 1_000_000_000 + (isNew ? 0 : 50_000_000))
            _ = rate.start(.change, now: now)
            let decision = rate.decide(.change, macroblocks: 1000, now: now)
            rate.coded(decision, quantizer: 26, byteCount: 1000 * (isNew ? new : others), now: now)
        }
        return rate
    }

    @Test("what is new is expected to have what pictures after a rest had, and so is what changes after them")
    func moving() {
        for (new, others) in [(60, 12), (20, 80)] {
            let rate = rate(new: new, others: others)
            let rest = rate.expectedBytes(macroblocks: 500, quantizer: 26, isNew: true)
            let whole = rate.expectedBytes(macroblocks: 1500, quantizer: 26, isNew: false)
            #expect(abs(rest - Double(500 * new)) < Double(500 * new) / 5)
            #expect(abs(whole - Double(1500 * others)) < Double(1500 * others) / 5)
            #expect((rest < whole) == (new == 20))
        }
    }
}
