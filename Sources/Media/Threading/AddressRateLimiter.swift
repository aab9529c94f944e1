public import MediaTypes

/// A token bucket for each address: it limits uses of something, such as requests, to a rate with bursts.
///
/// At most 4,096 addresses are remembered (an IPv6 /64 counts as one, see ``ClientAddress``). All addresses with the
/// same first 48 bits of IPv6 together have 8 times the rate of one. Time is an argument.
public struct AddressRateLimiter: Sendable {
    static let capacity = 4096

    /// The time that has to pass for each use.
    private let price: Interval
    /// The most time that an address can save up for its next uses.
    private let savings: Interval
    /// For each address, the time up to which its uses are paid for.
    private var paid: [String: MonotonicTime] = [:]

    /// Allows `perSecond` uses on average and `burst` at once.
    public init(perSecond: Int, burst: Int) {
        price = .microseconds(1_000_000 / Int64(max(1, perSecond)))
        savings = Interval(nanoseconds: price.nanoseconds * Int64(max(1, burst)))
    }

    /// The number of addresses that are remembered.
    var count: Int { paid.count }

    /// Returns whether `address` is within its limit now, and counts the use if so.
    public mutating func take(_ address: String, now: MonotonicTime) -> Bool {
        let oldest = now - savings
        let network = ClientAddress.networkKey(address)
        let own = next(ClientAddress.key(address), price, oldest)
        let shared = network.map { next($0, Interval(nanoseconds: price.nanoseconds / 8), oldest) }
        guard own <= now, shared ?? now <= now else { return false }
        pay(ClientAddress.key(address), own)
        if let network, let shared { pay(network, shared) }
        return true
    }

    /// The time up to which the uses of `key` are paid for, with another one.
    private func next(_ key: String, _ price: Interval, _ oldest: MonotonicTime) -> MonotonicTime {
        max(paid[key] ?? oldest, oldest) + price
    }

    private mutating func pay(_ key: String, _ time: MonotonicTime) {
        if paid.count >= Self.capacity, paid[key] == nil, let least = paid.min(by: { $0.value < $1.value }) {
            // The one that has used least is forgotten.
            paid[least.key] = nil
        }
        paid[key] = time
    }
}
