import CLinux
import Clocks
public import Glibc
public import MediaTypes

extension pollfd {
    /// An entry that waits for `events`, or for nothing if the descriptor is negative.
    public init(_ descriptor: Int32, _ events: Int32 = POLLIN) {
        self.init(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
    }

    /// Whether the entry is ready: an event that it waits for has come, an error, or a hang-up by the other end.
    public var isReady: Bool { revents != 0 }
}

/// Waits until an entry is ready, until a signal interrupts it, or until `deadline`, with nanosecond precision. If the
/// deadline has passed, returns at once.
///
/// - Parameter now: the time, if the caller has just read it.
/// - Returns: the number of entries that are ready; -1 after an interruption or another error, with no entry ready and
///   the reason in `errno`.
@discardableResult
public func waitForEvents(
    _ entries: inout [pollfd], until deadline: MonotonicTime = .distantFuture, now: MonotonicTime? = nil
) -> Int32 {
    let count = entries.withUnsafeMutableBufferPointer { waitForEvents($0, until: deadline, now: now) }
    if count < 0 { for index in entries.indices { entries[index].revents = 0 } }
    return count
}

/// Waits in the same way for `events` on one descriptor, and returns the events that have come.
@discardableResult
public func waitForEvents(
    on descriptor: Int32, _ events: Int32 = POLLIN, until deadline: MonotonicTime = .distantFuture
) -> Int32 {
    var entry = pollfd(descriptor, events)
    withUnsafeMutablePointer(to: &entry) {
        _ = waitForEvents(UnsafeMutableBufferPointer(start: $0, count: 1), until: deadline, now: nil)
    }
    return Int32(entry.revents)
}

private func waitForEvents(
    _ entries: UnsafeMutableBufferPointer<pollfd>, until deadline: MonotonicTime, now: MonotonicTime?
) -> Int32 {
    guard deadline != .distantFuture else { return shim_ppoll(entries.baseAddress, UInt(entries.count), nil) }
    let left = max(.zero, deadline - (now ?? MonotonicTime.now())).nanoseconds
    var interval = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
    return shim_ppoll(entries.baseAddress, UInt(entries.count), &interval)
}
