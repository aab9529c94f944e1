import CLinux
import Glibc
public import MediaTypes
import Synchronization

/// An eventfd that wakes a thread waiting in `poll`. ``signal()`` may be called on any thread.
public final class EventFD: Sendable {
    /// The file descriptor for the waiting thread's `poll`, readable while a signal is pending.
    public let descriptor: Int32
    /// Whether a signal is pending, or is just being written. Further ones then need no system call: with hundreds of
    /// readers, a frame signals hundreds of times.
    private let isPending = Atomic<Bool>(false)

    /// Creates a wake-up with no pending signal; nil if the process has no file descriptor left.
    public init?() {
        let made = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        // Returns before `descriptor` is set: otherwise `deinit` would run, and could overwrite the `errno` that tells
        // the caller why.
        if made < 0 { return nil }
        descriptor = made
    }

    deinit {
        close(descriptor)
    }

    /// Wakes the waiting thread. Signals that are sent before the thread consumes them count as one.
    public func signal() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var one: UInt64 = 1
        while write(descriptor, &one, 8) < 0, errno == EINTR {}
    }

    /// Consumes all pending signals. What they announce must be looked at afterwards, not before.
    public func consume() {
        var count: UInt64 = 0
        while read(descriptor, &count, 8) < 0, errno == EINTR {}
        // In this order: were it cleared first, a signal between the two steps would be read, and stay pending forever.
        // What a signal without a write announces is visible to the caller now.
        _ = isPending.exchange(false, ordering: .acquiringAndReleasing)
    }

    /// Waits for a signal until `deadline` and consumes it.
    public func wait(until deadline: MonotonicTime = .distantFuture) {
        waitForEvents(on: descriptor, until: deadline)
        consume()
    }
}
