#if DEBUG
    public import Glibc
#endif

/// The thread that a value belongs to which isn't thread-safe: the one that created it.
///
/// Such a value checks at its entry points that it is used on that thread. A debug build traps where it isn't. A
/// release build stores nothing and checks nothing.
public struct ThreadOwner: Sendable {
    #if DEBUG
        @usableFromInline let thread: pthread_t
    #endif

    /// The owner is the calling thread.
    @inlinable
    public init() {
        #if DEBUG
            thread = pthread_self()
        #endif
    }

    /// Traps in a debug build if the calling thread isn't the owner.
    @inlinable
    public func check(file: StaticString = #fileID, line: UInt = #line) {
        #if DEBUG
            precondition(
                pthread_equal(pthread_self(), thread) != 0, "called on a thread that doesn't own this", file: file,
                line: line)
        #endif
    }
}
