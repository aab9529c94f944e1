import Synchronization
import Threading

/// Tells the server's thread that there is something new for one player, by the player's number. Any thread may signal
/// it.
final class PlayerWake: Sendable {
    private let number: Int
    private let inbox: Mailbox<Int>
    /// Whether the number waits in the inbox. So a player is there once, however much is new.
    private let isSignalled = Atomic<Bool>(false)

    init(_ number: Int, _ inbox: Mailbox<Int>) {
        self.number = number
        self.inbox = inbox
    }

    func signal() {
        if !isSignalled.exchange(true, ordering: .acquiringAndReleasing) { inbox.post(number) }
    }

    /// Makes the next signal count again. What is new must be looked at afterwards, not before.
    func consume() { _ = isSignalled.exchange(false, ordering: .acquiringAndReleasing) }
}
