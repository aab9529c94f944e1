import Clocks
import Glibc
import MediaTypes
import Synchronization
import Threading

/// Opens the viewers' connections, at a steady rate, on threads of its own: the thread of the viewers must not wait.
final class StreamJoining: Sendable {
    /// A viewer's connection, on which the video has been requested.
    struct Outcome: Sendable {
        let viewer: Int
        /// When the connection was begun.
        let began: MonotonicTime
        let connection: Result<StreamConnection, BenchFailure>
    }

    private static let threadCount = 8

    /// The outcomes, for the thread of the viewers.
    let outcomes: Mailbox<Outcome>
    private let plan: Plan
    private let way: StreamWay
    private let next = Atomic<Int>(0)
    private let isStopped = Flag()

    /// - Throws: ``BenchFailure`` if the process has no descriptor left.
    init(_ plan: Plan, _ way: StreamWay) throws(BenchFailure) {
        guard let outcomes = Mailbox<Outcome>() else { throw .system("an eventfd") }
        self.outcomes = outcomes
        self.plan = plan
        self.way = way
    }

    /// Starts the threads, which end after the last viewer's connection.
    func start() -> [NamedThread] {
        let began = MonotonicTime.now()
        return (0..<min(Self.threadCount, plan.viewers)).compactMap { _ in
            NamedThread("joining", blocksSignals: true) { self.run(since: began) }
        }
    }

    /// Lets the threads end after their current connections.
    func stop() { isStopped.set() }

    private func run(since began: MonotonicTime) {
        while !isStopped.isSet {
            let viewer = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard viewer < plan.viewers else { return }
            let due = began + Interval.seconds(1) * Int64(viewer) / Int64(plan.joinRate)
            let wait = (due - MonotonicTime.now()).milliseconds
            if wait > 0 { poll(nil, 0, Int32(clamping: wait)) }
            let start = MonotonicTime.now()
            outcomes.post(Outcome(viewer: viewer, began: start, connection: join()))
        }
    }

    private func join() -> Result<StreamConnection, BenchFailure> {
        do throws(BenchFailure) {
            return .success(try way.join(plan.address))
        } catch {
            return .failure(error)
        }
    }
}
