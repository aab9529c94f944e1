import CLinux
import Glibc
import MediaTypes
import STUN
import Threading

/// The TCP connections of peers (RFC 6544) that belong to one loop: accepted on the port of the same number as the UDP
/// port, or taken over from the loop that has accepted them, and each used for one session.
///
/// Their number is bounded by ``StreamAdmission``. Belongs to the media thread.
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

    /// Ready when a connection is; -1 if there can be none.
    let descriptor: Int32
    /// The time of the next call of ``takeExpired(now:)``.
    private(set) var deadline = MonotonicTime.distantFuture
    /// How many datagrams were lost because too much waited for their connection.
    private(set) var lostCount = 0

    private let owner = ThreadOwner()
    private let listener: StreamListener?
    private let listenerDescriptor: Int32
    private let maxLength: Int
    private let admission: StreamAdmission
    private let loop: Int
    /// The connections of other loops that are to be closed.
    private var superfluous: [StreamAdmission.Place] = []
    private var connections: [UInt32: StreamConnection] = [:]
    private var resumesAccepting: MonotonicTime?
    private var ready = [shim_ready](repeating: shim_ready(), count: StreamConnections.servedAtOnce)

    /// Accepts the connections from `listener`, if there is one, that `admission` admits, for datagrams of up to
    /// `maxLength` bytes.
    ///
    /// - Parameters:
    ///   - loop: the number of the loop.
    ///   - adopts: whether there may be connections without a listener, from another loop.
    init(
        _ listener: consuming StreamListener?, maxLength: Int, admission: StreamAdmission = StreamAdmission(),
        loop: Int = 0, adopts: Bool = false
    ) {
        self.maxLength = maxLength
        self.admission = admission
        self.loop = loop
        listenerDescriptor = listener?.descriptor ?? -1
        self.listener = listener
        descriptor = listenerDescriptor < 0 && !adopts ? -1 : epoll_create1(Int32(EPOLL_CLOEXEC))
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
        let number = admission.nextNumber()
        let new = StreamConnection(owning: accepted, number: number, of: admission, maxLength: maxLength, now: now)
        guard let new, case .admitted(let closing) = admission.admit(new.path.peer, to: loop, now: now) else { return }
        if let closing, closing.loop == loop { connections[closing.number] = nil }
        if let closing, closing.loop != loop { superfluous.append(closing) }
        guard shim_epoll_set(descriptor, 1, accepted, UInt64(number), 1, 0) == 0 else {
            admission.remove(number)
            return
        }
        connections[number] = new
        deadline = min(deadline, now + Self.proofTimeout)
    }

    /// Closes a connection once the caller has released it.
    func remove(_ connection: StreamConnection) {
        owner.check()
        guard contains(connection) else { return }
        connections[connection.path.peer.connection] = nil
        admission.remove(connection.path.peer.connection)
    }

    /// The connections of other loops that have to be closed, to make room for accepted ones, since the last call.
    func takeSuperfluous() -> [StreamAdmission.Place] {
        owner.check()
        guard !superfluous.isEmpty else { return [] }
        defer { superfluous.removeAll() }
        return superfluous
    }

    /// Gives a connection up, which stays open, for another loop.
    func release(_ connection: StreamConnection, to loop: Int) {
        owner.check()
        guard contains(connection) else { return }
        connections[connection.path.peer.connection] = nil
        _ = shim_epoll_remove(descriptor, connection.descriptor)
        admission.move(connection.path.peer.connection, to: loop)
    }

    /// Takes a connection over from another loop. Returns false if that failed: the connection is closed once the
    /// caller has released it.
    func adopt(_ connection: StreamConnection) -> Bool {
        owner.check()
        let number = connection.path.peer.connection
        guard shim_epoll_set(descriptor, 1, connection.descriptor, UInt64(number), 1, 0) == 0 else {
            admission.remove(number)
            return false
        }
        connections[number] = connection
        deadline = min(deadline, connection.openedAt + Self.proofTimeout)
        return true
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
