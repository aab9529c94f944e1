import CLinux
import Clocks
import MediaTypes
import Synchronization
import Threading

/// Returns freed memory to the system after many sessions have ended.
///
/// By itself, glibc returns only the end of a heap, and what ended sessions have freed lies between blocks in use: the
/// 65 MB of 1,000 sessions stayed with the process. Any thread.
final class FreedMemory: Sendable {
    /// After so many ended sessions, there may be some megabytes to return.
    static let usualCount = 200
    /// Sessions that end within this time after them are included. It is also the shortest time between two returns:
    /// each keeps other threads from allocating for some milliseconds.
    static let usualDelay = Interval.seconds(5)

    private let count: Int
    private let delay: Interval
    private let giveBack: @Sendable () -> Void
    /// How many sessions have ended since the last return.
    private let ended = Atomic<Int>(0)

    /// Calls `giveBack` on a thread of its own, `delay` after each `count` sessions have ended.
    init(
        after count: Int = FreedMemory.usualCount, delay: Interval = FreedMemory.usualDelay,
        giveBack: @escaping @Sendable () -> Void = { _ = malloc_trim(0) }
    ) {
        self.count = count
        self.delay = delay
        self.giveBack = giveBack
    }

    /// Notes that a session has ended. Doesn't block.
    func sessionEnded() {
        // Further ones are above the number until the thread is done, so there is one thread at most.
        guard ended.wrappingAdd(1, ordering: .relaxed).newValue == count else { return }
        let thread = NamedThread("memory", blocksSignals: true) { [self] in
            waitForEvents(on: -1, until: .now() + delay)
            ended.store(0, ordering: .relaxed)
            giveBack()
        }
        if thread == nil { ended.store(0, ordering: .relaxed) }
    }
}
