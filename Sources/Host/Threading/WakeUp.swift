import CLinux
public import Glibc
public import MediaTypes

/// Wakes a thread that waits in `poll`: an eventfd. ``signal()`` may be called on any thread.
public final class WakeUp: Sendable {
    /// Readable while there is an unconsumed signal; for the waiting thread's `poll`.
    public let descriptor: Int32

    /// A wake-up without a signal; nil where the process has no descriptor left.
    public init?() {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// Wakes the waiting thread; signals that come before it looks count as one.
    public func signal() {
        var one: UInt64 = 1
        while write(descriptor, &one, 8) < 0, errno == EINTR {}
    }

    /// Takes back every signal so far.
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

/// `poll` with a deadline on CLOCK_MONOTONIC in nanoseconds; returns at the deadline, at a signal, or with an event.
public func waitForEvents(
    _ entries: UnsafeMutablePointer<pollfd>, count: Int, until deadline: MonotonicTime
) {
    guard deadline != .distantFuture else {
        poll(entries, nfds_t(count), -1)
        return
    }
    let left = max(.zero, deadline - monotonicNow())
    var interval = timespec(
        tv_sec: Int(left.nanoseconds / 1_000_000_000), tv_nsec: Int(left.nanoseconds % 1_000_000_000))
    shim_ppoll(entries, UInt(count), &interval)
}

/// CLOCK_MONOTONIC now.
public func monotonicNow() -> MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC now: read once when the host starts and never again, so that
/// a stepped wall clock does not look like a jump of the media.
public func unixOffsetOfMonotonicClock() -> Interval {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let unix = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    return Interval(nanoseconds: unix - monotonicNow().nanoseconds)
}
