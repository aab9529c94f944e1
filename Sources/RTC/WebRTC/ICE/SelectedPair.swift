import MediaSessions
import MediaTypes
import STUN
import SecureTransport

/// The path that a session's packets take, ICE's selected pair (RFC 8445 section 4), and whether the peer consents to
/// receive there (RFC 7675).
///
/// A check proves who made it, but not which address it comes from: an attacker can copy a check and forge the source
/// address. So media is sent to an address only once the peer has answered something that was sent there: one of our
/// requests or, on the first path, the handshake. While we ask at a new address, media keeps using the previous one.
///
/// Sans-IO. Belongs to the media thread.
struct SelectedPair {
    /// How long consent lasts after an answer (RFC 7675 section 5.1).
    static let consentTimeout = Interval.seconds(30)
    /// How often the peer is asked whether it still consents (RFC 7675 section 5.1), less or more by a fifth.
    var requestInterval = Interval.seconds(5)
    /// How long each request waits for an answer before it is sent again. After the last wait, we stop asking at that
    /// address.
    private static let waits: [Interval] = [.milliseconds(100), .milliseconds(300), .seconds(3)]
    /// The maximum number of addresses that we send requests to at once, so that checks with forged sources can't make
    /// us send requests to many addresses for long.
    private static let requestLimit = 4

    /// The current path. Handshake packets may use it before the peer has answered there, media only afterwards.
    private(set) var current: NetworkPath?
    /// The time of the last proof that the peer receives what is sent along `current`.
    private var consentRefreshedAt: MonotonicTime?
    /// The time of the last such proof on any path.
    private(set) var lastConsent: MonotonicTime?
    /// The path that the peer has nominated instead of `current` and where it has not answered yet.
    private var pendingNomination: NetworkPath?
    /// Whether the peer has nominated a path.
    private(set) var isNominated = false
    /// The credentials for requests on `current`, from the peer's last check there.
    private var agent: ICEAgent?
    private var requests: [Request] = []
    /// The time of the next consent request.
    private var nextRequest = MonotonicTime.distantFuture
    /// The address that the handshake's flights were sent to, as long as there was only one.
    private var handshake = Handshake.none
    private let session: MediaSessionID

    private enum Handshake {
        case none
        case with(TransportAddress)
        case withSeveral
    }

    private struct Request {
        let id: STUNMessage.TransactionID
        let path: NetworkPath
        let agent: ICEAgent
        var tries = 0
        var due: MonotonicTime
    }

    /// Creates the state of `session`, without a path.
    init(of session: MediaSessionID) {
        self.session = session
    }

    /// The path that media may be sent on now; nil if there is no recent answer from the peer.
    func consented(now: MonotonicTime) -> NetworkPath? {
        guard let consentRefreshedAt, now - consentRefreshedAt < Self.consentTimeout else { return nil }
        return current
    }

    /// The time at which ``takeDue(now:)`` next returns something.
    var deadline: MonotonicTime { requests.reduce(nextRequest) { min($0, $1.due) } }

    /// Records an authenticated check along `path`. The path that the peer nominated last is used, or the first one
    /// that works until it nominates one.
    ///
    /// | address of the check | nominated | consent on `current` | result |
    /// | --- | --- | --- | --- |
    /// | address of `current` | yes, or no path is yet | any | `current` has the local address of the check |
    /// | address of `current` | no | any | `current` stays |
    /// | another | yes, or no path is yet | no | it becomes `current`: for the handshake, until the peer answers |
    /// | another | yes | yes | it becomes `pendingNomination` until the peer answers there |
    /// | another | no | any | `current` stays |
    ///
    /// Without consent on `current`, and on a new path, the peer is asked whether it receives.
    ///
    /// - Parameter isKnown: whether the peer has answered at this address before. If so, it is asked again only if this
    ///   is to become the new path.
    mutating func checked(
        along path: NetworkPath, nominated: Bool, by agent: ICEAgent, isKnown: Bool, now: MonotonicTime
    ) {
        let hasConsent = consented(now: now) != nil
        if path.peer == current?.peer {
            self.agent = agent
            // The local address may change without a new request, because the peer's address is the same.
            if nominated || !isNominated { current = path }
            if nominated { pendingNomination = nil }
            if !hasConsent { queueCheck(path, by: agent, now: now) }
        } else if !hasConsent, nominated || !isNominated {
            // Only the handshake uses this path before the peer answers there.
            current = path
            self.agent = agent
            consentRefreshedAt = nil
            queueCheck(path, by: agent, now: now)
        } else {
            if nominated { pendingNomination = path }
            if nominated || !isKnown { queueCheck(path, by: agent, now: now) }
        }
        if nominated { isNominated = true }
    }

    /// Sends a request to the peer along `path`, unless one is already pending for that address.
    mutating func queueCheck(_ path: NetworkPath, by agent: ICEAgent, now: MonotonicTime) {
        guard !requests.contains(where: { $0.path.peer == path.peer }) else { return }
        guard let id = Self.transactionID(of: session) else { return }
        if requests.count >= Self.requestLimit {
            requests.remove(at: requests.firstIndex { $0.path.peer != current?.peer } ?? 0)
        }
        requests.append(Request(id: id, path: path, agent: agent, due: now))
    }

    /// Asks the peer now whether it still consents, even if it is being asked already.
    mutating func ask(now: MonotonicTime) {
        guard let path = consented(now: now), let agent else { return }
        let isAsked = { (request: Request) in
            request.path == path && request.agent.localUfrag == agent.localUfrag
        }
        guard let index = requests.firstIndex(where: isAsked) else {
            // One along a former path, or with former credentials, may never be answered.
            requests.removeAll { $0.path.peer == path.peer }
            return queueCheck(path, by: agent, now: now)
        }
        // An answer to an earlier one counts, however long the round trip is.
        (requests[index].tries, requests[index].due) = (0, now)
    }

    /// A new transaction identifier for a request of `session`.
    static func transactionID(of session: MediaSessionID) -> STUNMessage.TransactionID? {
        let number = withUnsafeBytes(of: UInt32(truncatingIfNeeded: session.rawValue).bigEndian) { Array($0) }
        return STUNMessage.TransactionID(number + SecureRandom.bytes(8))
    }

    /// The session that sent the request with this transaction identifier.
    static func session(of id: STUNMessage.TransactionID) -> MediaSessionID {
        MediaSessionID(rawValue: id.bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Handles a response. Returns true if it answers one of our requests and was sent from the request's destination.
    mutating func take(_ response: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        guard
            let index = requests.firstIndex(where: { $0.id == response.transactionID && $0.path.peer == path.peer }),
            requests[index].agent.isAnswer(response, to: requests[index].id, hmac: Authentication.hmacSHA1)
        else { return false }
        let request = requests.remove(at: index)
        if request.path.peer == current?.peer {
            refreshConsent(now: now)
        } else if request.path.peer == pendingNomination?.peer || consented(now: now) == nil {
            (current, agent) = (request.path, request.agent)
            pendingNomination = nil
            refreshConsent(now: now)
        }
        return true
    }

    /// Forgets the path to `address`, a TCP connection that is closed. If it was the current path, the next one that
    /// the peer checks replaces it.
    mutating func removeAddress(_ address: TransportAddress) {
        requests.removeAll { $0.path.peer == address }
        if pendingNomination?.peer == address { pendingNomination = nil }
        guard current?.peer == address else { return }
        (current, agent, consentRefreshedAt) = (nil, nil, nil)
        isNominated = false
        nextRequest = .distantFuture
    }

    /// Records an answer along `path` to a check of one of the peer's candidates. The path is used if there is no
    /// other, or if we nominate it.
    mutating func addValidPair(_ path: NetworkPath, nominated: Bool = false, by agent: ICEAgent, now: MonotonicTime) {
        if nominated || !isNominated && consented(now: now) == nil {
            current = path
            self.agent = agent
            if nominated { (isNominated, pendingNomination) = (true, nil) }
        }
        if path.peer == current?.peer { refreshConsent(now: now) }
    }

    /// Sends requests in the role of `agent` from now on.
    mutating func changeRole(to agent: ICEAgent) {
        if self.agent?.localUfrag == agent.localUfrag { self.agent = agent }
        requests.removeAll { $0.agent.localUfrag == agent.localUfrag }
    }

    /// Notes that a flight of the handshake is sent along `current`.
    mutating func noteFlight() {
        guard let peer = current?.peer else { return }
        switch handshake {
        case .none: handshake = .with(peer)
        case .with(let other): if other != peer { handshake = .withSeveral }
        case .withSeveral: break
        }
    }

    /// Notes that a flight from `address` completed the handshake. The peer can't have made that flight without
    /// receiving ours. So if ours were sent only there, this counts as an answer: the first path needs no extra round
    /// trip, and a peer that answers no requests, such as FFmpeg, still gets one.
    ///
    /// - Returns: whether the peer is proved to be at `address`.
    mutating func handshakeEnded(from address: TransportAddress, now: MonotonicTime) -> Bool {
        guard case .with(address) = handshake, current?.peer == address else { return false }
        refreshConsent(now: now)
        return true
    }

    /// Counts a publisher's packets as answers where it has answered before. FFmpeg answers no requests while it sends,
    /// and it is sent only a few reports.
    mutating func publisherHeard(at address: TransportAddress, now: MonotonicTime) {
        if current?.peer == address, consented(now: now) != nil { refreshConsent(now: now) }
    }

    private mutating func refreshConsent(now: MonotonicTime) {
        consentRefreshedAt = now
        lastConsent = now
        // ± 20 %, so that the requests of many sessions are spread out.
        let spread = Int64(SecureRandom.bytes(1).first ?? 0)
        nextRequest = now + .milliseconds(requestInterval.milliseconds * (1020 + 2 * spread) / 1275)
    }

    /// The requests to send now.
    mutating func takeDue(now: MonotonicTime) -> [(datagram: [UInt8], path: NetworkPath)] {
        guard deadline <= now else { return [] }
        if nextRequest <= now {
            nextRequest = .distantFuture
            if let path = consented(now: now), let agent {
                queueCheck(path, by: agent, now: now)
                nextRequest = now + requestInterval
            }
        }
        var due: [(datagram: [UInt8], path: NetworkPath)] = []
        for index in requests.indices where requests[index].due <= now {
            let request = requests[index]
            requests[index].tries += 1
            guard request.tries < Self.waits.count else { continue }
            // An unanswered request must not prevent the next one.
            requests[index].due = now + min(Self.waits[request.tries], requestInterval - .milliseconds(500))
            let datagram = request.agent.request(request.id, hmac: Authentication.hmacSHA1)
            due.append((datagram, request.path))
        }
        requests.removeAll { $0.tries > Self.waits.count }
        return due
    }
}
