import Synchronization
import TestSupport
import Testing
import Threading

@Suite("Threads")
struct NamedThreadTests {
    /// The size of the process's address space in bytes. A thread's stack stays in it until the thread is joined or
    /// released.
    private static func addressSpace() throws -> Int {
        let pages = try fileBytes("/proc/self/statm").prefix { $0 != UInt8(ascii: " ") }
        return try #require(Int(String(decoding: pages, as: UTF8.self))) * 4096
    }

    @Test("joining waits for the end, and joining again does nothing")
    func join() throws {
        let hasRun = Mutex(false)
        let wake = try #require(EventFD())
        let thread = try #require(
            NamedThread("test") {
                wake.wait()
                hasRun.withLock { $0 = true }
            })
        wake.signal()
        thread.join()
        #expect(hasRun.withLock { $0 })
        thread.join()
    }

    @Test("a thread with low priority has a higher nice value, as have those that it starts, and no other has")
    func lowPriority() throws {
        let usual = try #require(try niceValueOfThisThread())
        let values = NiceValues()
        for hasLowPriority in [true, false] {
            let thread = try #require(
                NamedThread("test", hasLowPriority: hasLowPriority) {
                    values.add()
                    NamedThread("test") { values.add() }?.join()
                })
            thread.join()
        }
        // 19 is the highest.
        let low: Int? = min(usual + 5, 19)
        #expect(values.all.withLock { $0 } == [low, low, usual, usual])
    }

    /// The nice values of threads, each added by the thread itself.
    private final class NiceValues: Sendable {
        let all = Mutex<[Int?]>([])

        func add() { all.withLock { $0.append(try? niceValueOfThisThread()) } }
    }

    @Test("a thread that nobody joins leaves nothing behind")
    func neverJoined() throws {
        let before = try Self.addressSpace()
        let count = 1000
        let ended = Mutex(0)
        for _ in 0..<count {
            _ = try #require(NamedThread("test") { ended.withLock { $0 += 1 } })
        }
        try eventually("all threads", holds: { ended.withLock { $0 } == count })
        // A stack has 8 MiB; what malloc reserves for the threads is less than half of that.
        try eventually("the stacks' end", holds: { try Self.addressSpace() < before + count << 22 })
    }
}
