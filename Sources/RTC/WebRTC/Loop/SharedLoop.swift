import MediaSessions
import Synchronization
import Threading

/// What other threads may use of a loop: they post to its inbox, and read what it reports.
final class SharedLoop: Sendable {
    let inbox: MediaCommandQueue
    let statistics = SharedStatistics()
    private let sessions = Atomic<Int>(0)

    /// Nil if the process has no file descriptor left.
    init?() {
        guard let inbox = MediaCommandQueue() else { return nil }
        self.inbox = inbox
    }

    /// How many sessions the loop has, those included that wait for their answer. The server counts them.
    var sessionCount: Int { sessions.load(ordering: .relaxed) }

    func changeSessionCount(by change: Int) {
        sessions.wrappingAdd(change, ordering: .relaxed)
    }
}
