import Threading

/// Limits how often each address may send a wrong token or password.
///
/// An address may fail 20 times at once, and once a second after that. Successful attempts are not counted. At most
/// 1,024 addresses are remembered. Time is an argument, in seconds.
public struct FailedAttempts {
    static let burst: Int = 20
    static let capacity = 1024

    /// For each address, the time at which its failures are paid off, at one a second.
    private var owedUntil: [String: Int] = [:]

    public init() {}

    /// The number of addresses that are remembered.
    var count: Int { owedUntil.count }

    /// Whether `address` is within its limit of failures.
    public func mayTry(_ address: String, now: Int) -> Bool {
        (owedUntil[ClientAddress.key(address)] ?? now) - now < Self.burst
    }

    /// Counts a failure of `address`. Returns whether the address was within its limit before.
    @discardableResult
    public mutating func note(_ address: String, now: Int) -> Bool {
        let key = ClientAddress.key(address)
        if owedUntil.count >= Self.capacity, owedUntil[key] == nil {
            owedUntil = owedUntil.filter { $0.value > now }
            // More addresses than fit are failing at the same time. Forgetting them costs less than the memory would.
            if owedUntil.count >= Self.capacity { owedUntil.removeAll() }
        }
        let owed = owedUntil[key] ?? now
        owedUntil[key] = min(max(owed, now) + 1, now + 2 * Self.burst)
        return owed - now < Self.burst
    }
}
