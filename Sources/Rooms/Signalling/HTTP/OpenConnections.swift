import CGLib

/// The accepted connections, and the limits of their number. It belongs to the site's thread.
final class OpenConnections {
    private let limits: SignallingLimits
    /// Keyed by the client's address object, which libsoup provides with each message of the connection.
    private var connections: [OpaquePointer: ClientConnection] = [:]
    /// The number of connections of each address, except loopback, and the total. Connections that were closed to make
    /// room don't count.
    private var counts: [String: Int] = [:]
    private var count = 0

    init(limits: SignallingLimits) {
        self.limits = limits
    }

    var all: [ClientConnection] { Array(connections.values) }

    /// The connection that `message` came over, while it exists.
    func connection(of message: OpaquePointer) -> ClientConnection? {
        soup_server_message_get_remote_address(message).flatMap { connections[OpaquePointer($0)] }
    }

    /// Keeps the connection until `stream` is freed.
    func keep(_ connection: ClientConnection, until stream: UnsafeMutablePointer<GIOStream>) {
        let key = OpaquePointer(connection.remote)
        connections[key] = connection
        connection.watch(UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GObject.self)) { [unowned self] in
            if !connection.isDropped { discount(connection) }
            connections[key] = nil
        }
    }

    /// Counts `connection`. At the limit, the oldest connection that hasn't been admitted is closed to make room.
    /// Returns false if there is none.
    func makeRoom(for connection: ClientConnection) -> Bool {
        // Connections that were closed to make room disappear soon, but hold a descriptor until then.
        guard connections.count - count < Self.mostDropped else { return false }
        if let key = connection.countedAs, counts[key, default: 0] >= limits.connectionsPerAddress {
            guard dropOldest({ $0.countedAs == key }) else { return false }
        }
        guard count < limits.connections || dropOldest({ _ in true }) else { return false }
        count += 1
        if let key = connection.countedAs { counts[key, default: 0] += 1 }
        return true
    }

    private static let mostDropped = 128

    /// Closes one of the connections that match `isMeant` and haven't been admitted: the oldest of those whose request
    /// has been answered, because a browser reopens them by itself, or else the oldest of all. Returns false if there
    /// is none.
    private func dropOldest(_ isMeant: (ClientConnection) -> Bool) -> Bool {
        let candidates = connections.values.filter { !$0.isAdmitted && !$0.isDropped && isMeant($0) }
        let answered = candidates.filter(\.isAnswered)
        let oldest = (answered.isEmpty ? candidates : answered).min { $0.number < $1.number }
        guard let oldest else { return false }
        oldest.isDropped = true
        discount(oldest)
        oldest.abort()
        return true
    }

    func discount(_ connection: ClientConnection) {
        count -= 1
        guard let key = connection.countedAs else { return }
        counts[key] = counts[key].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// Forgets all connections, because the server has ended.
    func forgetAll() {
        for connection in all { connection.forget() }
        connections = [:]
    }
}
