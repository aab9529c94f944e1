import MediaTypes
import Testing

@testable import Pulling

@Suite("The order of a source's frames")
struct FrameOrderTests {
    /// Whether frames that are shown at these times, in 25ths of a second, are taken for reordered ones.
    private func isMixed(_ times: [Int]) -> Bool {
        var order = FrameOrder()
        for time in times { order.note(.milliseconds(Int64(time) * 40)) }
        return order.isMixed
    }

    @Test("frames that step back again and again come in another order than they are shown")
    func mixed() {
        #expect(isMixed([3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]))
        #expect(isMixed([2, 1, 4, 3, 6, 5, 8, 7]))
    }

    @Test("a clock that is set now and then, equal times and missing ones are no other order")
    func straight() {
        #expect(!isMixed(Array(0..<1000)))
        let rounds = (0..<20).flatMap { (start: Int) -> [Int] in Array(start..<start + 50) }
        #expect(!isMixed(rounds))
        #expect(!isMixed([Int](repeating: 7, count: 100)))
        var order = FrameOrder()
        for _ in 0..<100 { order.note(nil) }
        #expect(!order.isMixed)
    }
}
