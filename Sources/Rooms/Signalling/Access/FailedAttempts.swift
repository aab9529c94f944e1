import Threading

/// Limits how often each address may send a wrong token or password.
///
/// An address may fail 20 times at once, and once per second after that; all addresses of one IPv6 /48 prefix together
/// 8 times as often. Successful attempts are not counted. At most 1,024 addresses are remembered. Time is an argument,
/// in seconds.
public struct FailedAttempts {
    static let burst: Int = 20
    static let capacity = 1024
    /// The units that a second pays off.
    private static let price = 8

    /// For each address, and each network, the time at which its failures are paid off, in eighths of a second.
    private var owedUntil: [String: Int] = [:]

    public init() {}

    /// The number of addresses that are remembered.
    var count: Int { owedUntil.count }

    /// The prices of a failure of `address`, for the address and its network.
    private static func prices(_ address: String) -> [(key: String, price: Int)] {
        let own = [(key: ClientAddress.key(address), price: price)]
        return own + (ClientAddress.networkKey(address).map { [(key: $0, price: 1)] } ?? [])
    }

    /// Whether `address` is within its limit of failures.
    public func mayTry(_ address: String, now: Int) -> Bool {
        let now = now * Self.price
        return Self.prices(address).allSatisfy { (owedUntil[$0.key] ?? now) - now < Self.burst * Self.price }
    }

    /// Counts a failure of `address`. Returns whether the address was within its limit before.
    @discardableResult
    public mutating func note(_ address: String, now: Int) -> Bool {
        let isWithin = mayTry(address, now: now)
        let now = now * Self.price
        for (key, price) in Self.prices(address) {
            if owedUntil.count >= Self.capacity, owedUntil[key] == nil,
                // The one that owes least is forgotten.
                let least = owedUntil.min(by: { $0.value < $1.value })
            {
                owedUntil[least.key] = nil
            }
            owedUntil[key] = min(max(owedUntil[key] ?? now, now) + price, now + 2 * Self.burst * Self.price)
        }
        return isWithin
    }
}
