import Synchronization

/// Whether viewers may do something, such as point, and how many of their messages were dropped, for readers on any
/// thread.
final class ViewerPermission: Sendable {
    /// Whether the host's user allows it.
    let isAllowed: Atomic<Bool>
    /// The number of messages that were dropped because their members sent too many.
    let dropped = Atomic<Int>(0)

    init(isAllowed: Bool) { self.isAllowed = Atomic(isAllowed) }
}
