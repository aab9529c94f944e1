import MediaSessions
import Synchronization
import Threading

/// What other threads may use of a loop: they post to its inbox, and read what it reports.
final class SharedLoop: Sendable {
    /// If so many datagrams wait for the loop, further ones are lost, as they are if a socket has no room. It is more
    /// than what 1,000 viewers send while the thread sends a large picture.
    private static let datagramLimit = 4096

    let inbox: MediaCommandQueue
    let statistics = SharedStatistics()
    private let sessions = Atomic<Int>(0)
    /// How many datagrams wait in the inbox.
    private let datagrams = Atomic<Int>(0)
    /// How many datagrams were lost.
    private let lost = Atomic<Int>(0)

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

    /// How many datagrams the loop was too slow for, so far.
    var lostDatagrams: Int { lost.load(ordering: .relaxed) }

    /// Passes datagrams to the loop, which calls ``datagramsTaken(_:)``.
    func post(_ received: ReceivedDatagrams) {
        guard datagrams.load(ordering: .relaxed) < Self.datagramLimit else {
            lost.wrappingAdd(received.count, ordering: .relaxed)
            return
        }
        datagrams.wrappingAdd(received.count, ordering: .relaxed)
        inbox.post(.datagrams(received))
    }

    /// Notes that `count` of the datagrams wait no longer.
    func datagramsTaken(_ count: Int) {
        datagrams.wrappingSubtract(count, ordering: .relaxed)
    }
}
