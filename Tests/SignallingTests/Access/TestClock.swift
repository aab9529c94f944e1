import Synchronization

/// A clock in seconds that a test sets.
final class TestClock: Sendable {
    private let time = Mutex(1000)
    var now: Int {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
