import Clocks
import Glibc
import MediaTypes
import SecureTransport
import Synchronization
import Threading

/// Lets the viewers join, at a steady rate, on threads of its own: the thread of the viewers must not wait.
final class Joining<Joined: Sendable>: Sendable {
    /// The result of one viewer's join.
    struct Outcome: Sendable {
        let viewer: Int
        /// When the join began.
        let began: MonotonicTime
        let result: Result<Joined, BenchFailure>
    }

    /// The outcomes, for the thread of the viewers.
    let outcomes: Mailbox<Outcome>
    private let plan: Plan
    private let join: @Sendable () throws(BenchFailure) -> Joined
    private let next = Atomic<Int>(0)
    private let isStopped = Flag()

    /// - Parameter join: joins as one viewer; may block the calling thread.
    /// - Throws: ``BenchFailure`` if the process has no descriptor left.
    init(_ plan: Plan, join: @escaping @Sendable () throws(BenchFailure) -> Joined) throws(BenchFailure) {
        guard let outcomes = Mailbox<Outcome>() else { throw .system("an eventfd") }
        self.outcomes = outcomes
        self.plan = plan
        self.join = join
    }

    /// Starts the threads, which end after the last viewer's join.
    func start() -> [NamedThread] {
        let began = MonotonicTime.now()
        return (0..<min(8, plan.viewers)).compactMap { _ in
            NamedThread("joining", blocksSignals: true) { self.run(since: began) }
        }
    }

    /// Lets the threads end after their current joins.
    func stop() { isStopped.set() }

    private func run(since began: MonotonicTime) {
        while !isStopped.isSet {
            let viewer = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard viewer < plan.viewers else { return }
            let due = began + Interval.seconds(1) * Int64(viewer) / Int64(plan.joinRate)
            let wait = (due - MonotonicTime.now()).milliseconds
            if wait > 0 { poll(nil, 0, Int32(clamping: wait)) }
            let start = MonotonicTime.now()
            let result = Result { () throws(BenchFailure) in try join() }
            outcomes.post(Outcome(viewer: viewer, began: start, result: result))
        }
    }
}

extension Joining<Agreement> {
    /// Posts the viewers' offers.
    ///
    /// - Parameter fingerprint: the viewers' certificate's, as an `a=fingerprint` line has it.
    /// - Throws: ``BenchFailure`` if the process has no descriptor left.
    convenience init(_ plan: Plan, fingerprint: String) throws(BenchFailure) {
        try self.init(plan) { () throws(BenchFailure) in
            let own = SecureRandom.iceCredentials()
            let offer = ViewerOffer.text(
                ufrag: own.usernameFragment, password: own.password, fingerprint: fingerprint,
                offersTransportFeedback: plan.offersTransportFeedback, beginsHandshake: plan.stopsAfterHello)
            let answer = try WHEPRequest.post(offer, to: plan.address)
            return try Agreement(
                answer: answer, ufrag: own.usernameFragment, password: own.password, nearby: plan.address.host)
        }
    }
}
