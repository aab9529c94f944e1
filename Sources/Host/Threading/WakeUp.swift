import CLinux
import Clocks
public import Glibc
public import MediaTypes

/// An eventfd that wakes a thread waiting in `poll`. ``signal()`` may be called on any thread.
public final class WakeUp: Sendable {
    /// The file descriptor for the waiting thread's `poll`, readable while a signal is pending.
    public let descriptor: Int32

    /// Creates a wake-up with no pending signal; nil if the process has no file descriptor left.
    public init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Wakes the waiting thread. Signals sent before it has consumed one count as one.
    public func signal() {
        var one: UInt64 = 1
        while write(descriptor, &one, 8) < 0, errno == EINTR {}
    }

    /// Consumes all pending signals.
    public func consume() {
        var count: UInt64 = 0
        while read(descriptor, &count, 8) < 0, errno == EINTR {}
    }

    /// Waits for a signal until `deadline` and consumes it.
    public func wait(until deadline: MonotonicTime = .distantFuture) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        withUnsafeMutablePointer(to: &entry) { waitForEvents($0, count: 1, until: deadline) }
        consume()
    }
}

/// Calls `poll` with a deadline on CLOCK_MONOTONIC, in nanoseconds. Returns at the deadline, when interrupted by a
/// signal, or when an event arrives.
public func waitForEvents(
    _ entries: UnsafeMutablePointer<pollfd>, count: Int, until deadline: MonotonicTime
) {
    guard deadline != .distantFuture else {
        poll(entries, nfds_t(count), -1)
        return
    }
    let left = max(.zero, deadline - MonotonicTime.now())
    var interval = timespec(
        tv_sec: Int(left.nanoseconds / 1_000_000_000), tv_nsec: Int(left.nanoseconds % 1_000_000_000))
    shim_ppoll(entries, UInt(count), &interval)
}

/// How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC now. It is read once, when the host starts, so that a later step
/// of the wall clock does not look like a jump in the media.
public func unixOffsetOfMonotonicClock() -> Interval {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let unix = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    return Interval(nanoseconds: unix - MonotonicTime.now().nanoseconds)
}
