import Clocks
import MediaTypes
import Signalling
import Synchronization

/// The main context on which an attempt waits, and how other threads end it.
final class CancellableContext: Sendable {
    private struct State {
        var isClosing = false
        var isAbandoned = false
        /// When saying goodbye must be over, which an abandoned attempt does as well; nil before.
        var farewellEnd: MonotonicTime?
    }

    /// What GLib does for the attempt.
    let main = MainContext()
    private let state = Mutex(State())

    /// Whether it is to end, as its protocol says or without anybody who waits for it.
    var isOver: Bool { state.withLock { $0.isClosing || $0.isAbandoned } }
    /// Whether nobody waits for it any more.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func close() {
        state.withLock { $0.isClosing = true }
        main.wake()
    }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
        main.wake()
    }

    /// From here on, what is done must be over after `time`, and an abandoned attempt does it as well.
    func beginFarewell(within time: Interval) {
        state.withLock { $0.farewellEnd = MonotonicTime.now() + time }
    }

    /// Runs what comes until `isDone` or the deadline, or until the attempt is abandoned or its farewell over. Returns
    /// whether it is done. On the attempt's thread.
    @discardableResult
    func run(until deadline: MonotonicTime = .distantFuture, _ isDone: () -> Bool) -> Bool {
        while !isDone() {
            let state = state.withLock { $0 }
            let end = min(deadline, state.farewellEnd ?? .distantFuture)
            if MonotonicTime.now() >= end || state.farewellEnd == nil && state.isAbandoned { return false }
            main.iterate(until: end)
        }
        return true
    }
}
