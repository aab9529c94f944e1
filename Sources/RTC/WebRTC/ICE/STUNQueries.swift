import MediaTypes
import STUN
import SecureTransport
import Synchronization

/// An address that a NAT gives our port.
struct MappedAddress: Sendable, Hashable {
    /// The address, as a STUN server sees it.
    var address: TransportAddress
    /// Our own address behind it; its port is the socket's.
    var base: TransportAddress
}

/// The mapped addresses as far as other threads may know them. The media thread sets them.
final class SharedAddresses: Sendable {
    private let current = Mutex<[MappedAddress]>([])

    var all: [MappedAddress] {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// Asks STUN servers for the addresses that NATs give our port, and keeps these mappings alive by asking again.
///
/// The mappings are kept while nobody watches, too, because an answer to a viewer needs them at once.
///
/// Sans-IO. Belongs to the media thread.
struct STUNQueries {
    /// The times between the tries of one question (RFC 8489 section 6.2.1).
    static let waits: [Interval] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4)]
    /// A server that has not answered a question for this long is silent. It is asked again after as long.
    static let timeout = Interval.seconds(10)
    /// The time between questions that are answered, less up to 5 s. NATs forget UDP mappings after 30 s or more.
    static let keepAlive = Interval.seconds(25)
    /// The time between two lookups of the servers' names, as long as some server is silent.
    static let lookupInterval = Interval.seconds(30)

    /// What the log should say.
    enum LogEvent: Equatable {
        case found(TransportAddress, server: String)
        case silent(server: String)
    }

    fileprivate struct Query {
        let address: TransportAddress
        var id: STUNMessage.TransactionID?
        var tries = 0
        var startedAt = MonotonicTime.zero
        var due: MonotonicTime
        var mapped: MappedAddress?
    }

    private struct Server {
        let name: STUNServerName
        var queries: [Query] = []
        /// Whether the log says that the server is silent.
        var isSilent = false
        /// The last address of each family that the log names.
        var logged: Set<TransportAddress> = []
    }

    private var servers: [Server]
    /// The time at which the servers' names are to be looked up.
    private var nextLookup: MonotonicTime
    private var events: [LogEvent] = []

    /// Questions to `names`, whose lookup is due at once.
    init(_ names: [STUNServerName]) {
        servers = names.map { Server(name: $0) }
        nextLookup = names.isEmpty ? .distantFuture : .zero
    }

    /// The time at which something is due.
    var deadline: MonotonicTime {
        servers.reduce(nextLookup) { $1.queries.reduce($0) { min($0, $1.due) } }
    }

    /// The mapped addresses, each once, those of the first server first.
    var mapped: [MappedAddress] {
        var found: [MappedAddress] = []
        for mapped in servers.flatMap(\.queries).compactMap(\.mapped)
        where !found.contains(where: { $0.address == mapped.address }) {
            found.append(mapped)
        }
        return found
    }

    /// What has happened since the last call.
    mutating func takeEvents() -> [LogEvent] {
        defer { events.removeAll() }
        return events
    }

    // MARK: Names

    /// The names to look up now, if any. The result is for ``resolved(_:now:)``.
    mutating func takeLookup(now: MonotonicTime) -> [STUNServerName] {
        guard nextLookup <= now else { return [] }
        nextLookup = now + Self.lookupInterval
        return servers.map(\.name)
    }

    /// Takes the addresses of the servers. Servers that are being asked already are not asked again.
    mutating func resolved(_ addresses: [STUNServerName: [TransportAddress]], now: MonotonicTime) {
        for index in servers.indices {
            guard let found = addresses[servers[index].name] else { continue }
            // A name that can't be looked up now may still have its old addresses.
            if found.isEmpty { noteSilence(of: index) } else { take(found, of: index, now: now) }
        }
        scheduleLookup(now: now)
    }

    private mutating func take(_ found: [TransportAddress], of index: Int, now: MonotonicTime) {
        servers[index].queries.removeAll { !found.contains($0.address) }
        for address in found where !servers[index].queries.contains(where: { $0.address == address }) {
            servers[index].queries.append(Query(address: address, due: now))
        }
    }

    /// Names are looked up again as long as some server has not answered.
    private mutating func scheduleLookup(now: MonotonicTime) {
        let isComplete = servers.allSatisfy { $0.queries.contains { $0.mapped != nil } }
        if isComplete { nextLookup = .distantFuture } else { nextLookup = min(nextLookup, now + Self.lookupInterval) }
    }

    // MARK: Questions

    /// The datagrams to send now, each with its server's address.
    mutating func takeDue(now: MonotonicTime) -> [(datagram: [UInt8], server: TransportAddress)] {
        var due: [(datagram: [UInt8], server: TransportAddress)] = []
        for index in servers.indices {
            for query in servers[index].queries.indices where servers[index].queries[query].due <= now {
                if let datagram = servers[index].queries[query].next(now: now) {
                    due.append((datagram, servers[index].queries[query].address))
                } else {
                    let isHeard = servers[index].queries.contains { $0.mapped != nil }
                    if !isHeard { noteSilence(of: index) }
                    scheduleLookup(now: now)
                }
            }
        }
        return due
    }

    private mutating func noteSilence(of index: Int) {
        guard !servers[index].isSilent, servers[index].queries.allSatisfy({ $0.mapped == nil }) else { return }
        servers[index].isSilent = true
        events.append(.silent(server: servers[index].name.text))
    }

    /// Takes a message that came along `path`. Returns false unless it answers one of the questions.
    mutating func take(_ message: STUNMessage, along path: NetworkPath, now: MonotonicTime) -> Bool {
        guard message.messageClass == .success, message.method == .binding else { return false }
        for index in servers.indices {
            let place = servers[index].queries.firstIndex {
                $0.id == message.transactionID && $0.address == path.peer
            }
            guard let place else { continue }
            guard let address = message.xorMappedAddress?.unmapped, address.port != 0 else { return true }
            servers[index].queries[place].answered(MappedAddress(address: address, base: path.local), now: now)
            servers[index].isSilent = false
            if !servers[index].logged.contains(address) {
                servers[index].logged = servers[index].logged.filter { $0.family != address.family }
                servers[index].logged.insert(address)
                events.append(.found(address, server: servers[index].name.text))
            }
            scheduleLookup(now: now)
            return true
        }
        return false
    }
}

extension STUNQueries.Query {
    /// The question to send; nil if the server is silent.
    fileprivate mutating func next(now: MonotonicTime) -> [UInt8]? {
        if id != nil, tries > STUNQueries.waits.count {
            id = nil
            tries = 0
            mapped = nil
            due = now + STUNQueries.timeout
            return nil
        }
        if id == nil {
            startedAt = now
            id = STUNMessage.TransactionID(SecureRandom.bytes(12))
        }
        guard let id else { return nil }
        tries += 1
        due = tries > STUNQueries.waits.count ? startedAt + STUNQueries.timeout : now + STUNQueries.waits[tries - 1]
        return STUNMessage.encode(.request, transactionID: id, attributes: [], key: nil, hmac: { _, _ in [] })
    }

    fileprivate mutating func answered(_ mapped: MappedAddress, now: MonotonicTime) {
        self.mapped = mapped
        id = nil
        tries = 0
        let spread = SecureRandom.bytes(1).first ?? 0
        due = now + STUNQueries.keepAlive - .milliseconds(Int64(spread) * 5000 / 255)
    }
}
