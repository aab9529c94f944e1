import LockOrder
import Synchronization
import Testing

@Suite("Locks with a rank")
struct RankedMutexTests {
    @Test("locks may be taken in their order, again and again")
    func order() {
        let outer = RankedMutex(1, .hostTracks)
        let inner = RankedMutex(2, .innermost)
        for _ in 0..<2 {
            let sum = outer.withLock { first in inner.withLock { first + $0 } }
            #expect(sum == 3)
        }
    }

    @Test("a lock that was left by an error no longer counts as held")
    func error() {
        struct Failure: Error {}
        let inner = RankedMutex(0, .innermost)
        #expect(throws: Failure.self) { try inner.withLock { _ in throw Failure() } }
        #expect(RankedMutex(1, .hostTracks).withLock { $0 } == 1)
    }

    #if DEBUG
        @Test("a lock that is taken out of order stops the program in a debug build", .timeLimit(.minutes(30)))
        func wrongOrder() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let outer = RankedMutex(0, .hostTracks)
                RankedMutex(0, .trackHub).withLock { _ in outer.withLock { _ in } }
            }
            try Self.expectFault("the lock hostTracks is taken under trackHub", in: result)
        }

        @Test("two locks of one rank at a time stop the program in a debug build", .timeLimit(.minutes(30)))
        func equals() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let other = RankedMutex(0, .innermost)
                RankedMutex(0, .innermost).withLock { _ in other.withLock { _ in } }
            }
            try Self.expectFault("the lock innermost is taken under innermost", in: result)
        }

        private static func expectFault(_ words: String, in result: ExitTest.Result?) throws {
            let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(output.contains(words), "\(output)")
        }
    #else
        @Test("in a release build it is as large as a mutex without a rank")
        func size() {
            #expect(MemoryLayout<RankedMutex<UInt64>>.size == MemoryLayout<Mutex<UInt64>>.size)
        }
    #endif
}
