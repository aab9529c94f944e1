import MediaTypes
import STUN
import SecureTransport

/// A client of a TURN server over a stream (RFC 8656), which has datagrams relayed to a few peers, each by a channel.
///
/// Sans-IO: bytes and the time go in; bytes for the server and datagrams of the peers come out.
struct TURNClient {
    /// Why it is over, in words.
    struct TURNError: Error, Equatable {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// How long the server may take for an answer.
    static let timeout = Interval.seconds(5)
    /// A channel's permission lasts five minutes, and the shortest usual allocation ten (RFC 8656 sections 9 and 3.2).
    static let renewal = Interval.seconds(240)
    /// The longest datagram that is relayed, in bytes.
    static let maxDatagram = 2048
    /// The first number of a channel (section 12).
    private static let firstChannel: UInt16 = 0x4000
    /// How often a request is repeated because the server's nonce is too old.
    private static let staleLimit = 3

    private enum Purpose: Equatable {
        case allocate, refresh
        case bind(peer: Int)
    }

    private struct Request {
        let purpose: Purpose
        let due: MonotonicTime
        var tries = 1
    }

    private let user: String
    private let password: String
    private let peers: [TransportAddress]
    private var proof: LongTermProof?
    private var requests: [STUNMessage.TransactionID: Request] = [:]
    /// The peers that the server relays to.
    private(set) var bound: Set<Int> = []
    /// How many peers the server has refused, which it may.
    private var refusedCount = 0
    private var renewsAt = MonotonicTime.distantFuture
    private var renewal = Self.renewal
    /// The beginning of a message whose end hasn't come yet.
    private var partial: [UInt8] = []
    /// The bytes for the server since the last ``takeOutgoing()``.
    private var outgoing: [UInt8] = []

    /// A client that asks for an address at once.
    init(user: String, password: String, peers: [TransportAddress], now: MonotonicTime) {
        self.user = user
        self.password = password
        self.peers = peers
        request(.allocate, now: now)
    }

    mutating func takeOutgoing() -> [UInt8] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Whether the server has answered for all peers.
    var isReady: Bool { !bound.isEmpty && bound.count + refusedCount >= peers.count }

    /// When ``poll(now:)`` has something to do.
    var deadline: MonotonicTime { requests.values.reduce(renewsAt) { min($0, $1.due) } }

    /// Renews what would expire.
    mutating func poll(now: MonotonicTime) throws(TURNError) {
        if requests.values.contains(where: { $0.due <= now }) { throw TURNError("the TURN server doesn't answer") }
        guard now >= renewsAt else { return }
        renewsAt = now + renewal
        request(.refresh, now: now)
        for peer in bound { request(.bind(peer: peer), now: now) }
    }

    /// Has `datagram` relayed to a peer; does nothing while the server doesn't relay to it.
    mutating func send(_ datagram: ArraySlice<UInt8>, to peer: Int) {
        guard bound.contains(peer), datagram.count <= Self.maxDatagram else { return }
        let channel = Self.firstChannel + UInt16(peer)
        let length = UInt16(datagram.count)
        outgoing += [UInt8(channel >> 8), UInt8(channel & 0xff), UInt8(length >> 8), UInt8(length & 0xff)]
        outgoing += datagram
        for _ in 0..<(-datagram.count & 3) { outgoing.append(0) }
    }

    /// Gives the address back.
    mutating func end() {
        if proof != nil { request(.refresh, ends: true, now: .zero) }
    }

    // MARK: What the server sends

    /// Takes what has come, and calls `receive` for each datagram of a peer.
    mutating func take(
        _ bytes: ArraySlice<UInt8>, now: MonotonicTime, receive: (_ datagram: ArraySlice<UInt8>, _ peer: Int) -> Void
    ) throws(TURNError) {
        partial += bytes
        var rest = partial[...]
        while let length = try Self.length(of: rest), rest.count >= length {
            let message = rest.prefix(length)
            rest = rest.dropFirst(length)
            if Self.isChannelData(message) {
                let peer = Int(Self.word(message, 0)) - Int(Self.firstChannel)
                if bound.contains(peer) { receive(message.dropFirst(4).prefix(Int(Self.word(message, 2))), peer) }
            } else if let answer = try? STUNMessage(parsing: Array(message)) {
                try take(answer, now: now)
            }
        }
        partial = Array(rest)
    }

    /// The length of the message that begins with `bytes`, with its padding; nil if it hasn't come yet.
    private static func length(of bytes: ArraySlice<UInt8>) throws(TURNError) -> Int? {
        guard bytes.count >= 4 else { return nil }
        let length = Int(word(bytes, 2))
        if isChannelData(bytes) {
            // Over a stream, a message of a channel is padded (section 12.5).
            guard length <= maxDatagram else { throw TURNError("the TURN server sends too long a datagram") }
            return 4 + length + (-length & 3)
        }
        guard bytes[bytes.startIndex] >> 6 == 0, length + 20 <= STUNMessage.maxLength else {
            throw TURNError("the TURN server sends something else than TURN")
        }
        return length + 20
    }

    private static func isChannelData(_ bytes: ArraySlice<UInt8>) -> Bool { bytes[bytes.startIndex] >> 6 == 1 }

    private static func word(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt16 {
        UInt16(bytes[bytes.startIndex + offset]) << 8 | UInt16(bytes[bytes.startIndex + offset + 1])
    }

    private mutating func take(_ answer: STUNMessage, now: MonotonicTime) throws(TURNError) {
        guard let request = requests.removeValue(forKey: answer.transactionID) else { return }
        if let code = answer.errorCode?.code {
            try refused(request, with: code, answer, now: now)
        } else if answer.messageClass == .success {
            // Who is on the way must not make us believe that an address was given to us.
            if let proof, !answer.hasValidIntegrity(key: proof.key, hmac: Authentication.hmacSHA1) { return }
            succeeded(request, answer, now: now)
        }
    }

    private mutating func succeeded(_ request: Request, _ answer: STUNMessage, now: MonotonicTime) {
        switch request.purpose {
        case .allocate:
            if let lifetime = answer.lifetime { renewal = min(renewal, .seconds(Int64(max(lifetime, 20)) / 2)) }
            renewsAt = now + renewal
            for peer in peers.indices { self.request(.bind(peer: peer), now: now) }
        case .refresh: break
        case .bind(let peer): bound.insert(peer)
        }
    }

    private mutating func refused(
        _ request: Request, with code: Int, _ answer: STUNMessage, now: MonotonicTime
    ) throws(TURNError) {
        let isDemand = code == 401 && proof == nil || code == 438 && request.tries < Self.staleLimit
        if isDemand,
            let next = LongTermProof(answering: answer, user: user, password: password, md5: Authentication.md5)
        {
            proof = next
            return self.request(request.purpose, tries: request.tries + 1, now: now)
        }
        // It may relay to some of them only, as to addresses outside its own network.
        if case .bind(let peer) = request.purpose, !bound.contains(peer) {
            refusedCount += 1
            if refusedCount < peers.count { return }
        }
        throw TURNError("the TURN server refuses (\(code))")
    }

    private mutating func request(_ purpose: Purpose, ends: Bool = false, tries: Int = 1, now: MonotonicTime) {
        guard let id = STUNMessage.TransactionID(SecureRandom.bytes(12)) else { return }
        requests[id] = Request(purpose: purpose, due: now + Self.timeout, tries: tries)
        let method: STUNMessage.Method
        var attributes: [STUNAttribute]
        switch purpose {
        case .allocate: (method, attributes) = (.allocate, [.requestedUDP])
        case .refresh: (method, attributes) = (.refresh, ends ? [.lifetime(0)] : [])
        case .bind(let peer):
            (method, attributes) = (
                .channelBind,
                [.channelNumber(Self.firstChannel + UInt16(peer)), .peer(peers[peer], in: id)]
            )
        }
        attributes += proof?.attributes ?? []
        outgoing += STUNMessage.encode(
            .request, method: method, transactionID: id, attributes: attributes, key: proof?.key,
            hmac: Authentication.hmacSHA1)
    }
}
