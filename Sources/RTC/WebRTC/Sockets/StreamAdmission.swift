import MediaTypes
import STUN
import Synchronization
import Threading

/// Bounds the TCP connections of all media threads together, in all and for each address.
///
/// A connection costs memory and a descriptor before its peer has proved anything. If there are too many, the oldest
/// unproved one is closed. May be used on any thread.
final class StreamAdmission: Sendable {
    /// Where a connection is: its number, which no other connection has, and the loop that it belongs to.
    struct Place: Sendable {
        let number: UInt32
        var loop: Int
    }

    /// Whether a connection has room.
    enum Answer: Sendable {
        case refused
        /// It has room once the connection `closing` is closed, if that isn't nil.
        case admitted(closing: Place?)
    }

    private let state = Mutex(State())
    private let limit: Int

    /// Admits at most `limit` connections.
    init(limit: Int = StreamConnections.limit) {
        self.limit = limit
    }

    /// A number for the next connection.
    func nextNumber() -> UInt32 {
        state.withLock { state in
            repeat { state.lastNumber &+= 1 } while state.lastNumber == 0 || state.entries[state.lastNumber] != nil
            return state.lastNumber
        }
    }

    /// Admits a connection of `peer`, whose address has the connection's number, to `loop`.
    func admit(_ peer: TransportAddress, to loop: Int, now: MonotonicTime) -> Answer {
        let place = Place(number: peer.connection, loop: loop)
        return state.withLock { state in
            state.admit(Entry(client: Client(peer), openedAt: now, place: place), limit: limit)
        }
    }

    /// Notes that the peer of this connection has proved itself.
    func prove(_ number: UInt32) {
        state.withLock { state in state.prove(number) }
    }

    /// Notes that the connection belongs to `loop` from now on.
    func move(_ number: UInt32, to loop: Int) {
        state.withLock { state in state.move(number, to: loop) }
    }

    /// Notes that the connection is closed. Unknown numbers are ignored.
    func remove(_ number: UInt32) {
        state.withLock { state in state.remove(number) }
    }

    private struct Entry {
        let client: Client
        let openedAt: MonotonicTime
        var place: Place
        var isProved = false
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

    private struct State {
        var entries: [UInt32: Entry] = [:]
        var lastNumber: UInt32 = 0
        private var counts: [Client: Int] = [:]

        mutating func admit(_ entry: Entry, limit: Int) -> Answer {
            let hasMany = counts[entry.client, default: 0] >= StreamConnections.limitPerAddress
            var closing: Place?
            if hasMany || entries.count >= limit {
                guard let oldest = oldestUnproved(where: { !hasMany || $0 == entry.client }) else { return .refused }
                remove(oldest.number)
                closing = oldest
            }
            entries[entry.place.number] = entry
            counts[entry.client, default: 0] += 1
            return .admitted(closing: closing)
        }

        mutating func prove(_ number: UInt32) {
            entries[number]?.isProved = true
        }

        mutating func move(_ number: UInt32, to loop: Int) {
            entries[number]?.place.loop = loop
        }

        mutating func remove(_ number: UInt32) {
            guard let entry = entries.removeValue(forKey: number) else { return }
            let left = counts[entry.client, default: 0] - 1
            counts[entry.client] = left > 0 ? left : nil
        }

        /// The oldest connection among these clients' that has proved nothing, of the client, or of the network of 48
        /// bits, that has the most of them.
        private func oldestUnproved(where isMeant: (Client) -> Bool) -> Place? {
            let unproved = entries.values.filter { !$0.isProved && isMeant($0.client) }
            var (ofClient, ofNetwork): ([Client: Int], [Client: Int]) = ([:], [:])
            for entry in unproved {
                ofClient[entry.client, default: 0] += 1
                ofNetwork[entry.client.network, default: 0] += 1
            }
            func rank(_ entry: Entry) -> Int {
                let (client, network) = (entry.client, entry.client.network)
                return Crowd.size(address: ofClient[client, default: 0], network: ofNetwork[network, default: 0])
            }
            let oldest = unproved.max { first, second in
                let (one, other) = (rank(first), rank(second))
                return one == other ? first.openedAt > second.openedAt : one < other
            }
            return oldest?.place
        }
    }
}
