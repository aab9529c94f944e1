import MediaTypes
import STUN
import SecureTransport

/// Where a session's packets go, and whether the peer receives them there (RFC 7675).
///
/// A check proves who made it, and not where it comes from: anybody can copy one and write another sender into the copy. So media goes
/// to an address only once the peer has answered there what was sent to it: a request of ours, or, on the first path, the
/// handshake. While a new address is asked, media goes on to the one before.
///
/// Sans-IO. Belongs to the media thread.
struct MediaPath {
    /// How long an answer is good for (RFC 7675 section 5.1).
    static let consent = Interval.seconds(30)
    /// How long each request waits for its answer before the next one goes out; after the last the peer isn't asked there any more.
    private static let waits: [Interval] = [.milliseconds(100), .milliseconds(300), .seconds(3)]
    /// Addresses that are asked at once: checks with made-up senders must not have us send requests to all of them for long.
    private static let requestLimit = 4

    /// Where packets go: the handshake's before the peer has answered there, media only after that.
    private(set) var current: NetworkPath?
    /// When the peer last proved that it receives what is sent along `current`.
    private var answeredAt: MonotonicTime?
    /// The same, of any path.
    private(set) var lastAnswer: MonotonicTime?
    /// What the peer has nominated instead of `current`, and where it has not answered yet.
    private var wanted: NetworkPath?
    private var isNominated = false
    /// How the peer is asked: by the credentials of its last check.
    private var agent: LiteAgent?
    private var requests: [Request] = []
    /// When the peer is asked again whether it is still there.
    private var nextRequest = MonotonicTime.distantFuture
    /// Where the handshake's flights went, as long as that is one address alone.
    private var handshake = Handshake.none
    private let session: PeerSessionID

    private enum Handshake {
        case none
        case with(TransportAddress)
        case withSeveral
    }

    private struct Request {
        let id: STUNMessage.TransactionID
        let path: NetworkPath
        let agent: LiteAgent
        var tries = 0
        var due: MonotonicTime
    }

    /// No path yet, for `session`.
    init(of session: PeerSessionID) {
        self.session = session
    }

    /// Where media may go now; nil where the peer hasn't answered lately.
    func proved(now: MonotonicTime) -> NetworkPath? {
        guard let answeredAt, now - answeredAt < Self.consent else { return nil }
        return current
    }

    /// When ``takeDue(now:)`` has something.
    var deadline: MonotonicTime { requests.reduce(nextRequest) { min($0, $1.due) } }

    /// An authenticated check came along `path`: the peer's last word on which way to take, or, until it says one, the first that works.
    ///
    /// - Parameter isKnown: whether the peer has answered at this address before; it is then asked only if it is to be the new path.
    mutating func checked(
        along path: NetworkPath, nominated: Bool, by agent: LiteAgent, isKnown: Bool, now: MonotonicTime
    ) {
        let isProved = proved(now: now) != nil
        if path.peer == current?.peer {
            self.agent = agent
            // Another address of ours is no other place of the peer's.
            if nominated || !isNominated { current = path }
            if nominated { wanted = nil }
            if !isProved { ask(path, by: agent, now: now) }
        } else if !isProved, nominated || !isNominated {
            // Only the handshake goes there before the peer answers.
            (current, self.agent) = (path, agent)
            answeredAt = nil
            ask(path, by: agent, now: now)
        } else {
            if nominated { wanted = path }
            if nominated || !isKnown { ask(path, by: agent, now: now) }
        }
        if nominated { isNominated = true }
    }

    /// Asks the peer whether it is at `path`, unless it was just asked.
    mutating func ask(_ path: NetworkPath, by agent: LiteAgent, now: MonotonicTime) {
        guard !requests.contains(where: { $0.path.peer == path.peer }) else { return }
        let number = withUnsafeBytes(of: UInt32(truncatingIfNeeded: session.rawValue).bigEndian) { Array($0) }
        guard let id = STUNMessage.TransactionID(number + SecureRandom.bytes(8)) else { return }
        if requests.count >= Self.requestLimit {
            requests.remove(at: requests.firstIndex { $0.path.peer != current?.peer } ?? 0)
        }
        requests.append(Request(id: id, path: path, agent: agent, due: now))
    }

    /// The session that a request with this transaction is of.
    static func session(of id: STUNMessage.TransactionID) -> PeerSessionID {
        PeerSessionID(id.bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Takes a response; true where it answers a request of ours, from where that went.
    mutating func take(_ response: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        guard
            let index = requests.firstIndex(where: { $0.id == response.transactionID && $0.path.peer == path.peer }),
            requests[index].agent.isAnswer(
                response, to: requests[index].id, hmac: { Authentication.hmacSHA1(key: $0, data: $1) })
        else { return false }
        let request = requests.remove(at: index)
        if request.path.peer == current?.peer {
            noteAnswer(now: now)
        } else if request.path.peer == wanted?.peer || proved(now: now) == nil {
            (current, agent) = (request.path, request.agent)
            wanted = nil
            noteAnswer(now: now)
        }
        return true
    }

    /// A flight of the handshake goes along `current`.
    mutating func noteFlight() {
        guard let peer = current?.peer else { return }
        switch handshake {
        case .none: handshake = .with(peer)
        case .with(let other): if other != peer { handshake = .withSeveral }
        case .withSeveral: break
        }
    }

    /// The handshake was ended by a flight from `address`. The peer can't have made that without ours, so it has answered there, if
    /// ours went there alone: the first path costs nobody a round trip more, and a peer that answers no requests, like FFmpeg, has one.
    ///
    /// - Returns: whether that is proved.
    mutating func handshakeEnded(from address: TransportAddress, now: MonotonicTime) -> Bool {
        guard case .with(address) = handshake, current?.peer == address else { return false }
        noteAnswer(now: now)
        return true
    }

    /// Where the peer has answered already, packets of a publisher stand for answers too: FFmpeg answers no requests once it sends, and
    /// all that goes to it are a few reports.
    mutating func publisherHeard(at address: TransportAddress, now: MonotonicTime) {
        if current?.peer == address, proved(now: now) != nil { noteAnswer(now: now) }
    }

    private mutating func noteAnswer(now: MonotonicTime) {
        answeredAt = now
        lastAnswer = now
        // At 5 s give or take a fifth, so that the requests of many sessions spread (RFC 7675 section 5.1).
        let spread = SecureRandom.bytes(1).first ?? 0
        nextRequest = now + .milliseconds(4000 + Int64(spread) * 2000 / 255)
    }

    /// The requests that are due.
    mutating func takeDue(now: MonotonicTime) -> [(datagram: [UInt8], path: NetworkPath)] {
        guard deadline <= now else { return [] }
        if nextRequest <= now {
            nextRequest = .distantFuture
            if let path = proved(now: now), let agent {
                ask(path, by: agent, now: now)
                nextRequest = now + .seconds(5)
            }
        }
        var due: [(datagram: [UInt8], path: NetworkPath)] = []
        for index in requests.indices where requests[index].due <= now {
            let request = requests[index]
            requests[index].tries += 1
            guard request.tries < Self.waits.count else { continue }
            requests[index].due = now + Self.waits[request.tries]
            let datagram = request.agent.request(
                request.id, hmac: { Authentication.hmacSHA1(key: $0, data: $1) })
            due.append((datagram, request.path))
        }
        requests.removeAll { $0.tries > Self.waits.count }
        return due
    }
}
