/// Counts unadmitted clients by address, to choose whose connection is closed when there are too many. A few addresses
/// can't keep out all others this way.
///
/// The addresses of an IPv6 /48, which can belong to one customer with 65,536 /64 networks, also count together, as an
/// eighth of their number.
public struct Crowd {
    /// A client's address and network, as connections are counted by.
    public struct Origin: Sendable {
        let key: String
        let network: String?

        /// Creates the origin of a client with this numeric address.
        public init(_ address: String) {
            key = ClientAddress.key(address)
            network = ClientAddress.networkKey(address)
        }
    }

    private var counts: [String: Int] = [:]

    /// Counts `origins`; nil stands for a client that isn't counted, for example on loopback.
    public init(_ origins: some Sequence<Origin?>) {
        for case let origin? in origins {
            counts[origin.key, default: 0] += 1
            if let network = origin.network { counts[network, default: 0] += 1 }
        }
    }

    /// The number of clients at this address.
    public func count(of origin: Origin) -> Int { counts[origin.key, default: 0] }

    /// The size of the crowd that this origin is part of.
    public func size(of origin: Origin) -> Int {
        Self.size(address: count(of: origin), network: origin.network.flatMap { counts[$0] } ?? 0)
    }

    /// The size of the crowd that an address with so many clients, in a /48 with so many, is part of.
    public static func size(address: Int, network: Int) -> Int { max(address, network / 8) }

    /// The client to close first: the oldest of the largest crowd. Nil if there is none.
    ///
    /// - Parameters:
    ///   - clients: the oldest first.
    ///   - address: a client's address as text; a client without one is a crowd of one.
    public static func firstToGo<Client>(of clients: [Client], address: (Client) -> String?) -> Client? {
        let origins = clients.map { address($0).map { Origin($0) } }
        let crowd = Crowd(origins)
        var first: (index: Int, size: Int)?
        for (index, origin) in origins.enumerated() {
            let size = origin.map { crowd.size(of: $0) } ?? 1
            if size > first?.size ?? 0 { first = (index, size) }
        }
        return first.map { clients[$0.index] }
    }
}
