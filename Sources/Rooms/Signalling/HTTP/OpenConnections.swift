import CGLib
import Threading

/// The accepted connections, and the limits of their number. It belongs to the site's thread.
final class OpenConnections {
    private let limits: SignallingLimits
    /// Keyed by the client's address object, which libsoup provides with each message of the connection.
    private var connections: [OpaquePointer: ClientConnection] = [:]
    /// The clients that have connections, keyed by address and by network; without loopback.
    private var clients: [String: ConnectedClient] = [:]
    /// The number of connections. Those that were closed to make room don't count.
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
        connection.watch(UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GObject.self)) { [weak self] in
            if !connection.isDropped { self?.discount(connection) }
            self?.connections[key] = nil
        }
    }

    /// Counts `connection`. At the limit, a connection that hasn't been admitted is closed to make room: one of the
    /// address that has the most of them. Returns false if there is none.
    func makeRoom(for connection: ClientConnection) -> Bool {
        // Connections that were closed to make room disappear soon, but hold a descriptor until then.
        guard connections.count - count < Self.maxDropped else { return false }
        let client = client(of: connection)
        client?.count += 1
        var isAccepted = false
        defer { if !isAccepted { release(client) } }
        if let client, client.count > limits.connectionsPerAddress {
            guard drop(among: { $0.client === client }) else { return false }
        }
        guard count < limits.connections || drop(among: { _ in true }) else { return false }
        count += 1
        connection.client = client
        isAccepted = true
        return true
    }

    private func client(of connection: ClientConnection) -> ConnectedClient? {
        guard let key = connection.countedAs else { return nil }
        if let client = clients[key] { return client }
        let client = ConnectedClient(key: key, network: ClientAddress.networkKey(connection.address).map(network))
        clients[key] = client
        return client
    }

    private func network(_ key: String) -> ConnectedClient {
        if let network = clients[key] { return network }
        let network = ConnectedClient(key: key, network: nil)
        clients[key] = network
        return network
    }

    private static let maxDropped = 128

    /// Closes one of the connections that match `isMeant` and haven't been admitted, of the address that most of them
    /// are from: the oldest of those whose request has been answered, because browsers reopen those, or else
    /// the oldest. Returns false if there is none.
    ///
    /// In a flood, this is done for each connection: one pass, without a look at any text.
    private func drop(among isMeant: (ClientConnection) -> Bool) -> Bool {
        let candidates = connections.values.filter { !$0.isAdmitted && !$0.isDropped && isMeant($0) }
        for candidate in candidates { candidate.client?.beginCrowd() }
        for candidate in candidates { candidate.client?.addToCrowd() }
        var first: (connection: ClientConnection, rank: (Int, Int, UInt64))?
        for candidate in candidates {
            let rank = (
                candidate.client?.crowd ?? 1, candidate.isAnswered ? 1 : 0, UInt64.max - candidate.number
            )
            if first.map({ rank > $0.rank }) ?? true { first = (candidate, rank) }
        }
        guard let dropped = first?.connection else { return false }
        dropped.isDropped = true
        discount(dropped)
        dropped.abort()
        return true
    }

    func discount(_ connection: ClientConnection) {
        count -= 1
        release(connection.client)
    }

    private func release(_ client: ConnectedClient?) {
        guard let client else { return }
        client.count -= 1
        guard client.count == 0 else { return }
        clients[client.key] = nil
        guard let network = client.network else { return }
        network.count -= 1
        if network.count == 0 { clients[network.key] = nil }
    }

    /// Forgets all connections, because the server has ended.
    func forgetAll() {
        for connection in all { connection.forget() }
        connections = [:]
    }
}

/// An address with open connections, or an IPv6 /48, which may belong to one customer.
final class ConnectedClient {
    let key: String
    /// The network that an address of IPv6 is in.
    let network: ConnectedClient?
    /// The number of an address's connections, or of a network's addresses.
    var count = 0
    private var unadmitted = 0

    init(key: String, network: ConnectedClient?) {
        self.key = key
        self.network = network
        network?.count += 1
    }

    func beginCrowd() {
        unadmitted = 0
        network?.unadmitted = 0
    }

    func addToCrowd() {
        unadmitted += 1
        network?.unadmitted += 1
    }

    /// The number of its connections that haven't been admitted; for a /48, an eighth of them.
    var crowd: Int { Crowd.size(address: unadmitted, network: network?.unadmitted ?? 0) }
}
