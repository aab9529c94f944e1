/// How often each address has come with a wrong token of late.
///
/// An address may be wrong 20 times at once and once a second after that; past it, it is refused unseen until it has been
/// quiet. Loopback is left alone: all of this machine's programs share that address, so any page could lock its user out.
/// At most 1,024 addresses are remembered. Time is an argument, in seconds.
struct FailedAttempts {
    static let burst: Int = 20
    static let capacity = 1024

    /// The time until which the address's failures are owed, at one a second.
    private var owedUntil: [String: Int] = [:]

    /// How many addresses are remembered.
    var count: Int { owedUntil.count }

    /// Whether `address` may try a token.
    func mayTry(_ address: String, now: Int) -> Bool {
        (owedUntil[address] ?? now) - now < Self.burst
    }

    /// Notes that `address` came with a wrong token.
    mutating func note(_ address: String, now: Int) {
        guard !Self.isLoopback(address) else { return }
        if owedUntil.count >= Self.capacity, owedUntil[address] == nil {
            owedUntil = owedUntil.filter { $0.value > now }
            // All of them at it: a distributed guess at 128 bits is no danger, running out of memory would be.
            if owedUntil.count >= Self.capacity { owedUntil.removeAll() }
        }
        owedUntil[address] = max(owedUntil[address] ?? now, now) + 1
    }

    static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }
}
