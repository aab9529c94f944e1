import MediaSessions
import MediaTypes
import STUN
import SecureTransport

/// Which of the peer's candidates are checked when.
///
/// A NAT in front of the host lets a peer's packets in once the host has sent something to the peer's address. So the
/// host sends requests to all candidates, even if the peer chooses the path.
///
/// The peer can name the addresses of strangers. So the number of addresses is limited, each gets few packets of
/// about 100 bytes, and the packets of each session and of all viewers' sessions together are paced
/// (``CheckRateLimiter``).
///
/// Sans-IO. Belongs to the media thread.
struct CheckList {
    /// The maximum number of addresses in an ICE generation.
    static let limit = 16
    /// The maximum number in a session's life, which may have several generations.
    static let totalLimit = 64
    /// The time between two packets (Ta in RFC 8445 section 14.2).
    static let pace = Interval.milliseconds(50)
    /// The times between the tries at an address.
    static let waits: [Interval] = [
        .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2), .seconds(3), .seconds(3),
    ]
    /// The number of tries at each address if the session has connected by another one, which may be a relay: the peer
    /// may prefer this address as soon as it works.
    static let settledTries = 3
    /// The maximum number of tries at an address that the peer's own checks come from.
    private static let triggeredTries = 14

    private struct Check {
        let candidate: RemoteCandidate
        var id: STUNMessage.TransactionID
        var tries = 0
        var sentAt: MonotonicTime?
        /// The time of the next try; in the distant future if there is none.
        var due: MonotonicTime
        var isAnswered = false
    }

    private var checks: [Check] = []
    private var total = 0
    private var nextSendTime = MonotonicTime.zero
    private var isSettled = false
    private let session: MediaSessionID

    /// The time at which ``takeDue(now:)`` next returns something.
    private(set) var deadline = MonotonicTime.distantFuture

    init(of session: MediaSessionID) {
        self.session = session
    }

    /// Checks `candidates`, except those already given. Candidates beyond the limits are ignored.
    mutating func add(_ candidates: [RemoteCandidate], now: MonotonicTime) {
        for candidate in candidates where !checks.contains(where: { $0.candidate.address == candidate.address }) {
            guard checks.count < Self.limit, total < Self.totalLimit,
                let id = SelectedPair.transactionID(of: session)
            else { break }
            total += 1
            checks.append(Check(candidate: candidate, id: id, due: now))
        }
        schedule()
    }

    /// Checks the address that one of the peer's checks came from, soon and if necessary again (RFC 8445 section
    /// 7.3.1.4).
    mutating func trigger(_ candidate: RemoteCandidate, now: MonotonicTime) {
        add([candidate], now: now)
        guard let index = checks.firstIndex(where: { $0.candidate.address == candidate.address }),
            !checks[index].isAnswered, checks[index].tries < Self.triggeredTries
        else { return }
        let earliest = checks[index].sentAt.map { $0 + Self.waits[0] } ?? now
        checks[index].due = min(checks[index].due, max(now, earliest))
        schedule()
    }

    /// The next request, if one is due: at most one in the time of ``pace``. The addresses with the fewest tries are
    /// first, in the order that the peer prefers.
    mutating func takeDue(now: MonotonicTime) -> (id: STUNMessage.TransactionID, peer: TransportAddress)? {
        guard deadline <= now else { return nil }
        let due = checks.indices.filter { checks[$0].due <= now }
        let rank = { (check: Check) in (check.tries, UInt32.max - check.candidate.priority) }
        guard let index = due.min(by: { rank(checks[$0]) < rank(checks[$1]) }) else { return nil }
        checks[index].tries += 1
        checks[index].sentAt = now
        checks[index].due = nextTry(of: checks[index], now: now)
        nextSendTime = now + Self.pace
        schedule()
        return (checks[index].id, checks[index].candidate.address)
    }

    private func nextTry(of check: Check, now: MonotonicTime) -> MonotonicTime {
        guard check.tries <= Self.waits.count, !isSettled || check.tries < Self.settledTries else {
            return .distantFuture
        }
        return now + Self.waits[max(check.tries, 1) - 1]
    }

    /// Whether there are addresses, and `condition` holds for all of them.
    func areAll(_ condition: (TransportAddress) -> Bool) -> Bool {
        !checks.isEmpty && checks.allSatisfy { condition($0.candidate.address) }
    }

    /// Handles a response along `path`. Returns the candidate that it proves to be the peer's, if any.
    mutating func take(_ response: STUNMessage, along path: NetworkPath, by agent: ICEAgent) -> RemoteCandidate? {
        guard let index = index(of: response, along: path),
            agent.isAnswer(response, to: checks[index].id, hmac: Authentication.hmacSHA1)
        else { return nil }
        checks[index].isAnswered = true
        checks[index].due = .distantFuture
        schedule()
        return checks[index].candidate
    }

    /// Whether `response` reports that one of the requests claims the peer's own role.
    func isConflict(_ response: STUNMessage, along path: NetworkPath, by agent: ICEAgent) -> Bool {
        guard let index = index(of: response, along: path) else { return false }
        return agent.isRoleConflict(response, to: checks[index].id, hmac: Authentication.hmacSHA1)
    }

    /// Asks again in another role at the addresses that have not answered. Responses to earlier requests no longer
    /// count.
    mutating func renew(now: MonotonicTime) {
        for index in checks.indices where !checks[index].isAnswered && checks[index].tries > 0 {
            guard let id = SelectedPair.transactionID(of: session) else { continue }
            checks[index].id = id
            if checks[index].due < .distantFuture { checks[index].due = now }
        }
        schedule()
    }

    /// Whether an address that the peer prefers to one of `priority` may still answer.
    func hasBetter(than priority: UInt32) -> Bool {
        checks.contains { !$0.isAnswered && $0.due < .distantFuture && $0.candidate.priority > priority }
    }

    /// Notes that the session has connected.
    mutating func settle() {
        isSettled = true
        for index in checks.indices where checks[index].tries >= Self.settledTries {
            checks[index].due = .distantFuture
        }
        schedule()
    }

    /// Forgets all addresses, as for another ICE generation.
    mutating func restart() {
        checks.removeAll()
        isSettled = false
        schedule()
    }

    private func index(of response: STUNMessage, along path: NetworkPath) -> Int? {
        checks.firstIndex { $0.id == response.transactionID && $0.candidate.address == path.peer && $0.tries > 0 }
    }

    private mutating func schedule() {
        let next = checks.reduce(MonotonicTime.distantFuture) { min($0, $1.due) }
        deadline = next == .distantFuture ? next : max(next, nextSendTime)
    }
}

/// Bounds the requests to the candidates of all viewers together: a peer that opens many sessions must not be able to
/// make the host flood a stranger whom their candidates name. A request beyond the limit is not sent, as if it were
/// lost.
struct CheckRateLimiter {
    /// The time for which one request counts: 500 per second are about 0.5 Mbit/s.
    static let share = Interval.milliseconds(2)
    /// The requests of this time may be sent at once.
    static let burst = Interval.seconds(1)

    /// The time at which nothing counts any more.
    private var freeAt = MonotonicTime.zero

    /// Whether a request may be sent now; if so, it counts.
    mutating func take(now: MonotonicTime) -> Bool {
        let next = max(freeAt, now) + Self.share
        guard next - now <= Self.burst else { return false }
        freeAt = next
        return true
    }
}
