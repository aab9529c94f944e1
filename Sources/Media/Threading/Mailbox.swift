import Synchronization

/// Passes items from any thread to the one that takes them. That thread waits for `wake`, alone or together with its
/// sockets.
public final class Mailbox<Item: Sendable>: Sendable {
    /// Signalled for each item.
    public let wake: EventFD
    /// The items that wait; nil once the mailbox is closed.
    private let items = Mutex<[Item]?>([])
    /// Whether items wait; most wake-ups bring none, and this is far cheaper to ask.
    private let hasItems = Atomic<Bool>(false)

    /// Creates a mailbox for a thread that waits for `wake` already.
    public init(wake: EventFD) {
        self.wake = wake
    }

    /// Creates a mailbox; nil if the process has no file descriptor left.
    public convenience init?() {
        guard let wake = EventFD() else { return nil }
        self.init(wake: wake)
    }

    /// Adds an item behind those that wait; `replacing` may remove some of these first. Returns false if the mailbox is
    /// closed; nobody takes the item then.
    @discardableResult
    public func post(_ item: Item, replacing: (inout [Item]) -> Void = { _ in }) -> Bool {
        let isOpen = items.withLock { items in
            guard var waiting = items.take() else { return false }
            replacing(&waiting)
            waiting.append(item)
            items = waiting
            hasItems.store(true, ordering: .releasing)
            return true
        }
        if isOpen { wake.signal() }
        return isOpen
    }

    /// Removes and returns the items that wait.
    public func take() -> [Item] {
        guard hasItems.load(ordering: .acquiring) else { return [] }
        return items.withLock { items in
            guard let waiting = items else { return [] }
            items = []
            hasItems.store(false, ordering: .releasing)
            return waiting
        }
    }

    /// Closes the mailbox, and returns the items that still wait.
    public func close() -> [Item] { items.withLock { $0.take() ?? [] } }
}
