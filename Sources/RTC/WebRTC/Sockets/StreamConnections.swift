import CLinux
import Glibc
import MediaTypes
import STUN
import Threading

/// The TCP connections of peers (RFC 6544): accepted on the port of the same number as the UDP port, and each used for
/// one session.
///
/// A connection costs memory and a descriptor before its peer has proved anything, so the number of connections is
/// bounded, in all and for each address. If there are too many, the oldest unproved one is closed. Belongs to the media
/// thread.
final class StreamConnections {
    /// The maximum number of connections.
    static let limit = 1024
    /// The maximum number of connections from one IPv4 address or IPv6 /64.
    static let limitPerAddress = 64
    /// How long a connection may take to its first valid check. A browser sends that at once.
    static let proofTimeout = Interval.seconds(5)
    /// A connection over which nothing arrives for so long is closed. Browsers check even reserve connections at least
    /// every 30 s.
    static let silenceTimeout = Interval.seconds(60)
    /// How long to accept no more connections after there was no descriptor for one.
    private static let acceptPause = Interval.seconds(1)
    /// The maximum number of connections accepted at once.
    private static let acceptsAtOnce = 64
    /// The maximum number of connections served at once, beside a quarter of them. The kernel lets those that are still
    /// ready go last the next time, so that many connections that send all they can hold up neither pictures nor each
    /// other.
    static let servedAtOnce = 8
    /// The listener's number in `epoll`.
    private static let listenerNumber: UInt64 = 0

    /// A connection that can be read from, or that has sent all its backlog.
    struct Ready {
        let connection: StreamConnection
        let reads: Bool
        let isDrained: Bool
    }

    /// The number of one client's addresses: IPv4 ones have 0 for the first half.
    private struct Client: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ address: TransportAddress) {
            (high, low) = address.family == .ipv4 ? (0, address.low) : (address.high, 0)
        }

        private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

        /// The first 48 bits of IPv6; for IPv4, the address itself.
        var network: Client { Client(high: (high >> 16) << 16, low: low) }
    }

    /// Ready when a connection is; -1 if there are none, because there is no `listener`.
    let descriptor: Int32
    /// The time of the next call of ``takeExpired(now:)``.
    private(set) var deadline = MonotonicTime.distantFuture
    /// How many datagrams were lost because too much waited for their connection.
    private(set) var lostCount = 0

    private let owner = ThreadOwner()
    private let listener: StreamListener?
    private let listenerDescriptor: Int32
    private let maxLength: Int
    private let limit: Int
    private var connections: [UInt32: StreamConnection] = [:]
    private var counts: [Client: Int] = [:]
    private var lastNumber: UInt32 = 0
    private var resumesAccepting: MonotonicTime?
    private var ready = [shim_ready](repeating: shim_ready(), count: StreamConnections.servedAtOnce)

    /// Accepts at most `limit` connections from `listener`, if there is one, for datagrams of up to `maxLength` bytes.
    init(_ listener: consuming StreamListener?, maxLength: Int, limit: Int = StreamConnections.limit) {
        (self.maxLength, self.limit) = (maxLength, limit)
        listenerDescriptor = listener?.descriptor ?? -1
        self.listener = listener
        descriptor = listenerDescriptor < 0 ? -1 : epoll_create1(Int32(EPOLL_CLOEXEC))
        _ = shim_epoll_set(descriptor, 1, listenerDescriptor, Self.listenerNumber, 1, 0)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    var count: Int { connections.count }

    // MARK: Datagrams

    /// Sends `datagram` over the connection of this number; one that is gone loses it.
    ///
    /// - Returns: false if it has to wait, or was lost because too much waits already. ``takeReady(now:)`` reports when
    ///   there is room again.
    func send(_ datagram: [UInt8], over number: UInt32) -> Bool {
        owner.check()
        guard let connection = connections[number] else { return true }
        let hadBacklog = connection.hasBacklog
        if !connection.send(datagram) { lostCount += 1 }
        if connection.hasBacklog, !hadBacklog { awaitRoom(connection, true) }
        return !connection.hasBacklog
    }

    private func awaitRoom(_ connection: StreamConnection, _ waits: Bool) {
        let number = UInt64(connection.path.peer.connection)
        _ = shim_epoll_set(descriptor, 0, connection.descriptor, number, 1, waits ? 1 : 0)
    }

    /// Accepts connections, sends what waits where there is room, and returns those that have something for the caller.
    func takeReady(now: MonotonicTime) -> [Ready] {
        owner.check()
        let room = Self.servedAtOnce + connections.count / 4
        while ready.count < room { ready.append(shim_ready()) }
        let count = shim_epoll_take(descriptor, &ready, Int32(room))
        guard count > 0 else { return [] }
        var result: [Ready] = []
        for event in ready.prefix(Int(count)) {
            guard event.number != Self.listenerNumber else {
                accept(now: now)
                continue
            }
            guard let connection = connections[UInt32(truncatingIfNeeded: event.number)] else { continue }
            var isDrained = false
            if event.writes != 0, connection.hasBacklog {
                connection.flush()
                isDrained = !connection.hasBacklog
                if isDrained { awaitRoom(connection, false) }
            }
            result.append(Ready(connection: connection, reads: event.reads != 0, isDrained: isDrained))
        }
        return result
    }

    /// Whether the connection is still one of these.
    func contains(_ connection: StreamConnection) -> Bool {
        connections[connection.path.peer.connection] === connection
    }

    // MARK: Coming and going

    private func accept(now: MonotonicTime) {
        for _ in 0..<Self.acceptsAtOnce {
            guard let accepted = listener?.accept() else { return }
            if accepted < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno != EAGAIN { pauseAccepting(now: now) }
                return
            }
            add(accepted, now: now)
        }
    }

    /// The connections that wait would have the thread try again and again while there are no descriptors.
    private func pauseAccepting(now: MonotonicTime) {
        awaitConnections(false)
        resumesAccepting = now + Self.acceptPause
        deadline = min(deadline, now + Self.acceptPause)
    }

    private func awaitConnections(_ waits: Bool) {
        _ = shim_epoll_set(descriptor, 0, listenerDescriptor, Self.listenerNumber, waits ? 1 : 0, 0)
    }

    private func add(_ accepted: Int32, now: MonotonicTime) {
        repeat { lastNumber &+= 1 } while lastNumber == 0 || connections[lastNumber] != nil
        guard let new = StreamConnection(owning: accepted, number: lastNumber, maxLength: maxLength, now: now) else {
            return
        }
        let client = Client(new.path.peer)
        if counts[client, default: 0] >= Self.limitPerAddress {
            guard removeOldest(where: { Client($0.path.peer) == client }) else { return }
        }
        if connections.count >= limit {
            guard removeOldest(where: { _ in true }) else { return }
        }
        guard shim_epoll_set(descriptor, 1, accepted, UInt64(lastNumber), 1, 0) == 0 else { return }
        connections[lastNumber] = new
        counts[client, default: 0] += 1
        deadline = min(deadline, now + Self.proofTimeout)
    }

    /// Closes the oldest connection among these that has proved nothing, of the client, or of the network of 48 bits,
    /// that has the most of them; false if there is none.
    private func removeOldest(where isMeant: (StreamConnection) -> Bool) -> Bool {
        let unproved = connections.values.filter { $0.session == nil && isMeant($0) }
        var (ofClient, ofNetwork): ([Client: Int], [Client: Int]) = ([:], [:])
        for connection in unproved {
            let client = Client(connection.path.peer)
            ofClient[client, default: 0] += 1
            ofNetwork[client.network, default: 0] += 1
        }
        let oldest = unproved.max { first, second in
            func rank(_ connection: StreamConnection) -> Int {
                let client = Client(connection.path.peer)
                return Crowd.size(address: ofClient[client, default: 0], network: ofNetwork[client.network, default: 0])
            }
            let (one, other) = (rank(first), rank(second))
            return one == other ? first.openedAt > second.openedAt : one < other
        }
        guard let oldest else { return false }
        remove(oldest)
        return true
    }

    /// Closes a connection once the caller has released it.
    func remove(_ connection: StreamConnection) {
        owner.check()
        guard contains(connection) else { return }
        connections[connection.path.peer.connection] = nil
        let client = Client(connection.path.peer)
        let left = counts[client, default: 0] - 1
        counts[client] = left > 0 ? left : nil
    }

    /// The connection of this number, if it is still there.
    subscript(number: UInt32) -> StreamConnection? { connections[number] }

    /// The connections that have proved nothing in time, or were silent for too long, for the caller to remove.
    func takeExpired(now: MonotonicTime) -> [StreamConnection] {
        owner.check()
        if let due = resumesAccepting, due <= now {
            resumesAccepting = nil
            awaitConnections(true)
        }
        var expired: [StreamConnection] = []
        var next = resumesAccepting ?? .distantFuture
        for connection in connections.values {
            let due =
                connection.session == nil
                ? connection.openedAt + Self.proofTimeout : connection.heardAt + Self.silenceTimeout
            if due <= now { expired.append(connection) } else { next = min(next, due) }
        }
        deadline = next
        return expired
    }
}
