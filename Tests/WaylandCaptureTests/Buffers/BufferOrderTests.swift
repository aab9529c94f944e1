import Testing

@testable import WaylandCapture

@Suite("The order of a stream's buffers")
struct BufferOrderTests {
    private var order = BufferOrder<Int>()

    init() { for buffer in 1...3 { order.add(buffer) } }

    /// What is skipped as these arrive.
    private mutating func skipped(_ buffers: [Int]) -> [Int] { buffers.flatMap { order.arrive($0) } }

    @Test("shows nothing as long as nothing is lost, in whatever order the sender fills them")
    mutating func nothingLost() {
        #expect(skipped([1, 2, 3, 1, 2, 3]).isEmpty)
        order.remove(1)
        order.add(4)
        #expect(skipped([2, 3, 4, 2, 3, 4]).isEmpty)
    }

    @Test("shows each loss once, as soon as a later one arrives")
    mutating func lost() {
        #expect(skipped([1, 3]) == [2])
        // The sender fills the lost one when its turn comes.
        #expect(skipped([1, 2, 3, 1, 2]).isEmpty)
        // Two at once.
        #expect(skipped([2]) == [3, 1])
        #expect(skipped([3, 1, 2, 3, 1, 2]).isEmpty)
    }

    @Test("follows a sender that puts one off because the receiver holds it")
    mutating func putOff() {
        #expect(skipped([1, 2, 3]).isEmpty)
        #expect(skipped([2]) == [1])
        #expect(skipped([3, 1, 2, 3, 1]).isEmpty)
    }

    @Test("shows no loss of a buffer that isn't there any more, or isn't known")
    mutating func removed() {
        order.remove(1)
        #expect(skipped([2, 1, 3]).isEmpty)
    }
}
