/// How often each address has sent something wrong of late: a token, or a password.
///
/// An address may be wrong 20 times at once and once a second after that. What is right is never counted. At most 1,024
/// addresses are remembered. Time is an argument, in seconds.
struct FailedAttempts {
    static let burst: Int = 20
    static let capacity = 1024

    /// The time until which the address's failures are owed, at one a second.
    private var owedUntil: [String: Int] = [:]

    /// How many addresses are remembered.
    var count: Int { owedUntil.count }

    /// Whether `address` has not been wrong too often.
    func mayTry(_ address: String, now: Int) -> Bool {
        (owedUntil[ClientAddress.key(address)] ?? now) - now < Self.burst
    }

    /// Notes that `address` was wrong; gives whether it was within its limit until now.
    @discardableResult
    mutating func note(_ address: String, now: Int) -> Bool {
        let key = ClientAddress.key(address)
        if owedUntil.count >= Self.capacity, owedUntil[key] == nil {
            owedUntil = owedUntil.filter { $0.value > now }
            // More addresses than are remembered are wrong at the same time: forgetting them costs less than the memory would.
            if owedUntil.count >= Self.capacity { owedUntil.removeAll() }
        }
        let owed = owedUntil[key] ?? now
        owedUntil[key] = min(max(owed, now) + 1, now + 2 * Self.burst)
        return owed - now < Self.burst
    }
}
