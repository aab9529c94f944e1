public import MediaTypes

/// A token bucket for each address: it limits uses of something, such as requests, to a rate with bursts.
///
/// At most 4,096 addresses are remembered (an IPv6 /64 counts as one, see ``ClientAddress``). Time is an argument.
public struct AddressRate: Sendable {
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
        let key = ClientAddress.key(address)
        let oldest = now - savings
        if paid.count >= Self.capacity, paid[key] == nil {
            paid = paid.filter { $0.value > oldest }
            // More addresses than fit are in use at the same time. Forgetting them costs less than the memory would.
            if paid.count >= Self.capacity { paid.removeAll() }
        }
        let next = max(paid[key] ?? oldest, oldest) + price
        guard next <= now else { return false }
        paid[key] = next
        return true
    }
}
