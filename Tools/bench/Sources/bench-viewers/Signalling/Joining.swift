import Clocks
import Glibc
import MediaTypes
import SecureTransport
import Synchronization
import Threading

/// Posts the viewers' offers, at a steady rate, on threads of its own: the thread of the media must not wait.
final class Joining: Sendable {
    /// The result of one viewer's request.
    struct Outcome: Sendable {
        let viewer: Int
        /// When the request began.
        let began: MonotonicTime
        let agreement: Result<Agreement, BenchFailure>
    }

    private static let threadCount = 8

    /// The outcomes, for the thread of the media.
    let outcomes: Mailbox<Outcome>
    private let plan: Plan
    private let fingerprint: String
    private let next = Atomic<Int>(0)
    private let isStopped = Flag()

    /// - Parameter fingerprint: the viewers' certificate's, as an `a=fingerprint` line has it.
    /// - Throws: ``BenchFailure`` if the process has no descriptor left.
    init(_ plan: Plan, fingerprint: String) throws(BenchFailure) {
        guard let outcomes = Mailbox<Outcome>() else { throw .system("an eventfd") }
        self.outcomes = outcomes
        self.plan = plan
        self.fingerprint = fingerprint
    }

    /// Starts the threads, which end after the last viewer's request.
    func start() -> [NamedThread] {
        let began = MonotonicTime.now()
        return (0..<min(Self.threadCount, plan.viewers)).compactMap { _ in
            NamedThread("joining", blocksSignals: true) { self.run(since: began) }
        }
    }

    /// Lets the threads end after their current requests.
    func stop() { isStopped.set() }

    private func run(since began: MonotonicTime) {
        while !isStopped.isSet {
            let viewer = next.wrappingAdd(1, ordering: .relaxed).oldValue
            guard viewer < plan.viewers else { return }
            let due = began + Interval.seconds(1) * Int64(viewer) / Int64(plan.joinRate)
            let wait = (due - MonotonicTime.now()).milliseconds
            if wait > 0 { poll(nil, 0, Int32(clamping: wait)) }
            let start = MonotonicTime.now()
            outcomes.post(Outcome(viewer: viewer, began: start, agreement: join()))
        }
    }

    private func join() -> Result<Agreement, BenchFailure> {
        let own = SecureRandom.iceCredentials()
        let offer = ViewerOffer.text(
            ufrag: own.usernameFragment, password: own.password, fingerprint: fingerprint,
            offersTransportFeedback: plan.offersTransportFeedback, beginsHandshake: plan.stopsAfterHello)
        do throws(BenchFailure) {
            let answer = try WHEPRequest.post(offer, to: plan.address)
            return .success(
                try Agreement(
                    answer: answer, ufrag: own.usernameFragment, password: own.password, nearby: plan.address.host))
        } catch {
            return .failure(error)
        }
    }
}
