import Clocks
import MediaTypes
import Synchronization
import Threading

/// When a thread that carries a session around a blocked path begins, and when it ends. May be used on any thread.
final class RelayLife: Sendable {
    private struct State {
        var hasBegun = false
        var isOver = false
    }

    /// Signalled when the thread is to end.
    let wake: EventFD
    private let state = Mutex(State())

    /// Nil if the system has no descriptor left.
    init?() {
        guard let wake = EventFD() else { return nil }
        self.wake = wake
    }

    /// Whether the thread is to end.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Waits until `start`. Returns whether to begin then.
    func begin(at start: MonotonicTime) -> Bool {
        while !isOver, MonotonicTime.now() < start { wake.wait(until: start) }
        return state.withLock { state in
            state.hasBegun = !state.isOver
            return state.hasBegun
        }
    }

    /// Ends it unless it has begun.
    func settle() {
        let ends = state.withLock { state in
            if !state.hasBegun { state.isOver = true }
            return state.isOver
        }
        if ends { wake.signal() }
    }

    func end() {
        state.withLock { $0.isOver = true }
        wake.signal()
    }
}
