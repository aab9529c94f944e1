import MediaTypes
import OutputLife
import TestSupport
import Testing

struct OutputQueueTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    /// What is taken from the queue, in order.
    private func all(of queue: inout OutputQueue<Int>) -> [Int] {
        var taken: [Int] = []
        while let next = queue.next() { taken.append(next.element) }
        return taken
    }

    @Test("frames come out as they came in, from the first key frame on")
    func order() {
        var queue = OutputQueue<Int>()
        #expect(queue.needsKeyFrame)
        queue.add(0, .picture, byteCount: 10, at: time(0))
        #expect(queue.count == 0 && queue.dropped == (0, 0))
        for number in 1...600 {
            let kind: OutputQueue<Int>.Kind = number == 1 ? .keyFrame : number % 3 == 0 ? .sound : .picture
            queue.add(number, kind, byteCount: 10, at: time(1))
        }
        #expect(queue.byteCount == 6000)
        #expect(queue.age(at: time(31)) == .milliseconds(30))
        #expect(all(of: &queue) == Array(1...600))
        #expect(queue.byteCount == 0 && queue.dropped == (0, 0))
        #expect(queue.age(at: time(31)) == .zero)
    }

    @Test("a queue that is too old leaves out pictures up to the newest key frame, and no sound")
    func newestKeyFrame() {
        var queue = OutputQueue<Int>(time: .seconds(1))
        queue.add(1, .keyFrame, byteCount: 10, at: time(0))
        queue.add(2, .sound, byteCount: 10, at: time(500))
        queue.add(3, .picture, byteCount: 10, at: time(500))
        queue.add(4, .keyFrame, byteCount: 10, at: time(900))
        queue.add(5, .picture, byteCount: 10, at: time(1001))
        #expect(queue.dropped == (2, 0))
        #expect(!queue.needsKeyFrame)
        #expect(queue.byteCount == 30)
        #expect(all(of: &queue) == [2, 4, 5])
    }

    @Test("without another key frame all pictures go, and those that follow, until there is one")
    func noKeyFrame() {
        var queue = OutputQueue<Int>(byteCount: 100)
        queue.add(1, .keyFrame, byteCount: 60, at: time(0))
        queue.add(2, .sound, byteCount: 10, at: time(0))
        queue.add(3, .picture, byteCount: 60, at: time(0))
        #expect(queue.needsKeyFrame)
        queue.add(4, .picture, byteCount: 10, at: time(0))
        #expect(queue.dropped == (3, 0))
        queue.add(5, .keyFrame, byteCount: 10, at: time(0))
        #expect(!queue.needsKeyFrame)
        queue.add(6, .picture, byteCount: 10, at: time(0))
        #expect(all(of: &queue) == [2, 5, 6])
    }

    @Test("sound goes last, the oldest first, and a key frame alone may be of any size")
    func sound() {
        var queue = OutputQueue<Int>(byteCount: 100)
        for number in 1...12 { queue.add(number, .sound, byteCount: 10, at: time(0)) }
        #expect(queue.dropped == (0, 2))
        queue.add(13, .keyFrame, byteCount: 1000, at: time(0))
        #expect(queue.dropped == (0, 12))
        #expect(all(of: &queue) == [13])
    }

    @Test("sound that waits behind pictures stays whole while they go, until it is too old itself")
    func soundOutlastsPictures() {
        var queue = OutputQueue<Int>(time: .seconds(1), soundTime: .seconds(5))
        // Every fifth of a second a picture and, between two, a packet.
        for number in 0..<50 {
            let isSound = number % 2 == 1
            let kind: OutputQueue<Int>.Kind = isSound ? .sound : number % 20 == 0 ? .keyFrame : .picture
            queue.add(number, kind, byteCount: isSound ? 10 : 1000, at: time(Int64(number) * 100))
        }
        #expect(queue.dropped.sound == 0 && queue.dropped.pictures > 15)
        #expect(queue.age(at: time(4900)) == .milliseconds(4800))
        queue.add(50, .sound, byteCount: 10, at: time(5350))
        // Those of 100 and 300 ms.
        #expect(queue.dropped.sound == 2)
        let left = all(of: &queue)
        #expect(left.filter { $0 % 2 == 1 } == Array(stride(from: 5, to: 50, by: 2)))
        #expect(left.contains(50))
    }

    @Test("a picture that is sent never needs one that was left out")
    func references() {
        var random = SeededRandom(seed: 7)
        var queue = OutputQueue<Int>(time: .milliseconds(300), soundTime: .milliseconds(300), byteCount: 3000)
        var kinds: [OutputQueue<Int>.Kind] = []
        var sent: [Int] = []
        for now in 0..<20_000 as Range<Int64> {
            if Int.random(in: 0..<20, using: &random) == 0 {
                let all: [OutputQueue<Int>.Kind] = [.keyFrame, .sound, .picture, .picture, .picture, .picture]
                let kind = all[Int.random(in: all.indices, using: &random)]
                queue.add(kinds.count, kind, byteCount: Int.random(in: 1...800, using: &random), at: time(now))
                kinds.append(kind)
                #expect(queue.byteCount <= 3000)
                #expect(queue.age(at: time(now)) <= .milliseconds(300))
            }
            if Int.random(in: 0..<40, using: &random) == 0, let next = queue.next() { sent.append(next.element) }
        }
        #expect(queue.dropped.pictures > 100)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 < $1 })
        let pictures = kinds.indices.filter { kinds[$0] != .sound }
        let sentPictures = sent.filter { kinds[$0] != .sound }
        for number in sentPictures where kinds[number] == .picture {
            let before = pictures.last { $0 < number }
            #expect(before.map(sentPictures.contains) == true)
        }
    }

    @Test("after a lost connection the next picture is a key frame")
    func emptied() {
        var queue = OutputQueue<Int>()
        queue.add(1, .keyFrame, byteCount: 10, at: time(0))
        queue.removeAll()
        queue.add(2, .picture, byteCount: 10, at: time(0))
        #expect(queue.count == 0 && queue.byteCount == 0 && queue.needsKeyFrame)
        queue.add(3, .keyFrame, byteCount: 10, at: time(0))
        #expect(all(of: &queue) == [3])
    }
}
