public import Synchronization

/// A `Mutex` that has a place in the order of locks, so that two threads can't wait for each other.
///
/// A debug build traps if a thread takes it out of order, even if no other thread waits. In a release build it is a
/// `Mutex`, without a check and of the same size.
public struct RankedMutex<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let order: LockOrderCheck

    /// A lock of `rank` that protects `value`.
    @inlinable
    public init(_ value: consuming sending Value, _ rank: LockRank) {
        mutex = Mutex(value)
        order = LockOrderCheck(rank)
    }

    /// Calls `body` with the lock held, and returns its result. What `body` throws is passed on.
    @inlinable
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        order.willLock()
        defer { order.didUnlock() }
        return try mutex.withLock(body)
    }
}
