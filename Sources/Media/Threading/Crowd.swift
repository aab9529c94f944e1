/// How many of some strangers come from each address. So it can be chosen who makes room where they are too many, and a
/// few addresses can't keep out all others.
///
/// Addresses with the same first 48 bits of IPv6, of which one customer may have 65,536 networks of 64 bits, are also a
/// crowd together, an eighth as large as their number.
public struct Crowd {
    /// A client's address and network, as connections are counted by.
    public struct Origin: Sendable {
        let key: String
        let network: String?

        public init(_ address: String) {
            (key, network) = (ClientAddress.key(address), ClientAddress.networkKey(address))
        }
    }

    private var counts: [String: Int] = [:]

    /// Counts these; nil for one who doesn't count, as on loopback.
    public init(_ origins: some Sequence<Origin?>) {
        for case let origin? in origins {
            counts[origin.key, default: 0] += 1
            if let network = origin.network { counts[network, default: 0] += 1 }
        }
    }

    /// How many come from this address.
    public func count(of origin: Origin) -> Int { counts[origin.key, default: 0] }

    /// How large a crowd this origin is part of.
    public func size(of origin: Origin) -> Int {
        max(count(of: origin), (origin.network.flatMap { counts[$0] } ?? 0) / 8)
    }

    /// The one that goes first: the oldest of the largest crowd. Nil if there is none.
    ///
    /// - Parameters:
    ///   - strangers: the oldest first.
    ///   - address: where one comes from, in text; one for whom it is nil counts as one.
    public static func firstToGo<Stranger>(of strangers: [Stranger], address: (Stranger) -> String?) -> Stranger? {
        let origins = strangers.map { address($0).map { Origin($0) } }
        let crowd = Crowd(origins)
        var first: (index: Int, size: Int)?
        for (index, origin) in origins.enumerated() {
            let size = origin.map { crowd.size(of: $0) } ?? 1
            if size > first?.size ?? 0 { first = (index, size) }
        }
        return first.map { strangers[$0.index] }
    }
}
