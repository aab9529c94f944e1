import Testing

@testable import WaylandCapture

@Suite("Pictures that were sent and have never arrived")
struct SentTimesTests {
    private typealias Contents = SentTimes<Int>.Contents
    private var times = SentTimes<Int>()
    private var memory = [Contents](repeating: Contents(time: 0, hasPicture: false), count: 3)
    private var now: Int64 = 0

    init() { for buffer in memory.indices { times.add(buffer, memory[buffer]) } }

    /// Sends a buffer; if it arrives, returns whether one before it was lost.
    private mutating func send(_ buffer: Int, hasPicture: Bool = true, arrives: Bool = true) -> Bool {
        now += 1
        memory[buffer] = Contents(time: now, hasPicture: hasPicture)
        let memory = memory
        return arrives && times.arrive(buffer) { memory[$0] }
    }

    @Test("aren't told of while all arrive, in whatever order the sender uses its buffers")
    mutating func nothingLost() {
        for buffer in [0, 1, 2, 0, 1, 2, 1, 0, 0, 2] {
            let isOneLost = send(buffer)
            #expect(!isOneLost)
        }
    }

    @Test("are told of once each, as soon as a later buffer arrives, even one that has only the pointer")
    mutating func lost() {
        for _ in 0..<5 {
            _ = send(0, arrives: false)
            _ = send(1, arrives: false)
            let isFirstLost = send(2, hasPicture: false)
            let isAnotherLost = send(2)
            #expect(isFirstLost && !isAnotherLost)
        }
    }

    @Test("aren't those that the sender is about to send, or that had only the pointer")
    mutating func others() {
        _ = send(0, hasPicture: false, arrives: false)
        let isPointerLost = send(1)
        #expect(!isPointerLost)
        let now = now
        let isLaterLost = times.arrive(1) { Contents(time: $0 == 2 ? now + 2 : now + 1, hasPicture: true) }
        #expect(!isLaterLost)
    }

    @Test("aren't told of once their buffer isn't there any more")
    mutating func removed() {
        _ = send(0, arrives: false)
        times.remove(0)
        let isOneLost = send(1)
        #expect(!isOneLost)
    }

    @Test("are due from when they are sent until they or later ones arrive, or they are given up")
    mutating func due() {
        func isDue(_ test: Self) -> Bool { test.times.isOneDue { test.memory[$0] } }
        #expect(!isDue(self))
        _ = send(0, hasPicture: false, arrives: false)
        #expect(!isDue(self))
        _ = send(1, arrives: false)
        #expect(isDue(self))
        _ = send(2)
        #expect(!isDue(self))
        _ = send(0, arrives: false)
        #expect(isDue(self))
        let memory = memory
        times.forgetDue { memory[$0] }
        #expect(!isDue(self))
    }
}
