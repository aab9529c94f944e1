import MediaTypes
import TestSupport
import Testing

@testable import WebRTC

struct DeadlineQueueTests {
    private func time(_ milliseconds: Int) -> MonotonicTime { .zero + .milliseconds(Int64(milliseconds)) }

    @Test("entries come in the order of their deadlines, and none before it is due")
    func order() {
        var queue = DeadlineQueue()
        #expect(queue.earliest == .distantFuture)
        for (number, due) in [30, 10, 20, 10].enumerated() { queue.set(time(due), for: number) }
        #expect(queue.earliest == time(10))
        #expect(queue.takeFirst(dueBy: time(9)) == nil)
        let first = [queue.takeFirst(dueBy: time(10)), queue.takeFirst(dueBy: time(10))].compactMap(\.self)
        #expect(first.sorted() == [1, 3])
        #expect(queue.takeFirst(dueBy: time(19)) == nil)
        #expect(queue.takeFirst(dueBy: time(99)) == 2)
        #expect(queue.takeFirst(dueBy: time(99)) == 0)
        #expect(queue.takeFirst(dueBy: .distantFuture) == nil)
    }

    @Test("the earliest deadline is always that of a plain list, however deadlines are set, changed and removed")
    func random() {
        var random = SeededRandom(seed: 7)
        var queue = DeadlineQueue()
        var list: [Int: MonotonicTime] = [:]
        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                queue.remove(number)
                list[number] = nil
            case 1:
                let now = time(Int.random(in: 0..<200, using: &random))
                let taken = queue.takeFirst(dueBy: now)
                let least = list.values.min() ?? .distantFuture
                #expect(taken.flatMap { list[$0] } == (least <= now ? least : nil))
                if let taken { list[taken] = nil }
            default:
                let due = time(Int.random(in: 0..<1000, using: &random))
                queue.set(due, for: number)
                list[number] = due
            }
            #expect(queue.earliest == list.values.min() ?? .distantFuture)
        }
    }
}
