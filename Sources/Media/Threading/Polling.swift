import CLinux
import Clocks
public import Glibc
public import MediaTypes

extension pollfd {
    /// An entry that waits for `events`, or for nothing if the descriptor is negative.
    public init(_ descriptor: Int32, _ events: Int32 = POLLIN) {
        self.init(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
    }

    /// Whether something has come: an event that the entry waits for, or an error or the other end's hang-up.
    public var isReady: Bool { revents != 0 }
}

/// Waits until an entry is ready, until a signal interrupts it, or until `deadline`, with the exactness of nanoseconds.
/// A deadline that is over doesn't wait at all.
///
/// - Returns: the number of entries that are ready; -1 after an interruption or another error, with no entry ready and
///   the reason in `errno`.
@discardableResult
public func waitForEvents(_ entries: inout [pollfd], until deadline: MonotonicTime = .distantFuture) -> Int32 {
    let count = entries.withUnsafeMutableBufferPointer { waitForEvents($0, until: deadline) }
    if count < 0 { for index in entries.indices { entries[index].revents = 0 } }
    return count
}

/// Waits for `events` on one descriptor in the same way, and returns those that have come.
@discardableResult
public func waitForEvents(
    on descriptor: Int32, _ events: Int32 = POLLIN, until deadline: MonotonicTime = .distantFuture
) -> Int32 {
    var entry = pollfd(descriptor, events)
    withUnsafeMutablePointer(to: &entry) {
        _ = waitForEvents(UnsafeMutableBufferPointer(start: $0, count: 1), until: deadline)
    }
    return Int32(entry.revents)
}

private func waitForEvents(_ entries: UnsafeMutableBufferPointer<pollfd>, until deadline: MonotonicTime) -> Int32 {
    guard deadline != .distantFuture else { return shim_ppoll(entries.baseAddress, UInt(entries.count), nil) }
    let left = max(.zero, deadline - MonotonicTime.now()).nanoseconds
    var interval = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
    return shim_ppoll(entries.baseAddress, UInt(entries.count), &interval)
}
