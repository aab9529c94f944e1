import MediaSessions
import MediaTypes
import STUN
import SecureTransport

/// The controlling agent's choice of the path, among those that work (regular nomination, RFC 8445 section 8.1.1).
///
/// Sans-IO. Belongs to the media thread.
struct Nomination {
    /// How long the first path that works waits for one that the peer prefers.
    static let wait = Interval.milliseconds(300)
    /// How long each request with the nomination waits for its answer. After the last one, another path is chosen.
    private static let waits: [Interval] = [.milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2)]

    private struct Request {
        var id: STUNMessage.TransactionID
        let path: NetworkPath
        var tries = 0
        var due: MonotonicTime
    }

    /// The paths that work, with the priorities of their candidates.
    private var valid: [(path: NetworkPath, priority: UInt32)] = []
    /// The time of the choice.
    private var decision = MonotonicTime.distantFuture
    private var request: Request?
    private let session: MediaSessionID
    /// Whether the peer has accepted a nomination.
    private(set) var isComplete = false

    init(of session: MediaSessionID) {
        self.session = session
    }

    /// The time at which ``takeDue(now:)`` must be called next.
    var deadline: MonotonicTime { isComplete ? .distantFuture : request?.due ?? decision }

    /// Adds a path that works; `isBest` says that no better one is to be expected.
    mutating func add(_ path: NetworkPath, priority: UInt32, isBest: Bool, now: MonotonicTime) {
        guard !isComplete, !valid.contains(where: { $0.path.peer == path.peer }) else { return }
        valid.append((path, priority))
        decision = min(decision, isBest ? now : now + Self.wait)
    }

    /// The request with the nomination, if it is to be sent now.
    mutating func takeDue(now: MonotonicTime) -> (id: STUNMessage.TransactionID, path: NetworkPath)? {
        while deadline <= now {
            if let waiting = request {
                guard waiting.tries == Self.waits.count else {
                    request?.tries += 1
                    request?.due = now + Self.waits[waiting.tries]
                    return (waiting.id, waiting.path)
                }
                valid.removeAll { $0.path.peer == waiting.path.peer }
                request = nil
                decision = valid.isEmpty ? .distantFuture : now
            } else if let best = valid.max(by: { $0.priority < $1.priority }),
                let id = SelectedPair.transactionID(of: session)
            {
                request = Request(id: id, path: best.path, due: now)
            } else {
                decision = .distantFuture
            }
        }
        return nil
    }

    /// Takes a response along `path`. Returns true if the peer has accepted the nomination of that path.
    mutating func take(_ response: STUNMessage, along path: NetworkPath, by agent: ICEAgent) -> Bool {
        guard let request, request.path.peer == path.peer,
            agent.isAnswer(response, to: request.id, hmac: Authentication.hmacSHA1)
        else { return false }
        isComplete = true
        self.request = nil
        return true
    }

    /// Whether `response` says that the nomination claims the peer's own role.
    func isConflict(_ response: STUNMessage, along path: NetworkPath, by agent: ICEAgent) -> Bool {
        guard let request, request.path.peer == path.peer else { return false }
        return agent.isRoleConflict(response, to: request.id, hmac: Authentication.hmacSHA1)
    }
}
