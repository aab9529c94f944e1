import Testing

@testable import WaylandCapture

@Suite("The order of a stream's buffers")
struct BufferOrderTests {
    private var order = BufferOrder<Int>()

    init() { for buffer in 1...3 { order.add(buffer) } }

    @Test("is kept as long as nothing is lost")
    mutating func nothingLost() {
        for buffer in [1, 2, 3, 1, 2, 3] {
            let hasLost = order.arrive(buffer)
            #expect(!hasLost)
            order.add(buffer)
        }
    }

    @Test("is that in which they were given back")
    mutating func givenBack() {
        for buffer in 1...3 {
            let hasLost = order.arrive(buffer)
            #expect(!hasLost)
        }
        for buffer in [2, 3, 1] { order.add(buffer) }
        for buffer in [2, 3, 1] {
            let hasLost = order.arrive(buffer)
            #expect(!hasLost)
        }
    }

    @Test("shows each loss once, and what was lost is filled after what the sender had then")
    mutating func lost() {
        var losses: [Int] = []
        // The first 2 is lost, then the third 1 and the third 2.
        for buffer in [1, 3, 1, 2, 3, 3, 1] {
            if order.arrive(buffer) { losses.append(buffer) }
            order.add(buffer)
        }
        #expect(losses == [3, 3])
    }

    @Test("shows no loss of a buffer that isn't there any more")
    mutating func removed() {
        order.remove(1)
        let hasLost = order.arrive(2)
        let isUnknown = order.arrive(1)
        #expect(!hasLost && !isUnknown)
    }
}
