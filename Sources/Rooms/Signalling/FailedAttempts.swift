/// How often each address has come with something wrong of late: a token, or a password.
///
/// An address may be wrong 20 times at once and once a second after that; past it, it is refused unseen until it has been
/// quiet. For wrong tokens loopback is spared that: all of this machine's programs share it, so any page could lock its user
/// out. There it is only the wrong ones whose answers take longer and longer, to a second each.
/// At most 1,024 addresses are remembered. Time is an argument, in seconds.
struct FailedAttempts {
    static let burst: Int = 20
    static let capacity = 1024
    /// What loopback may be wrong at once before answers are held back.
    static let loopbackBurst = 50
    /// What each further wrong one adds to the wait, in milliseconds.
    static let loopbackStep = 20
    static let longestWait = 1000

    private let sparesLoopback: Bool
    /// The time until which the address's failures are owed, at one a second.
    private var owedUntil: [String: Int] = [:]
    private var loopbackOwedUntil = 0

    init(sparesLoopback: Bool = true) {
        self.sparesLoopback = sparesLoopback
    }

    /// How many addresses are remembered.
    var count: Int { owedUntil.count }

    /// Whether `address` may try again.
    func mayTry(_ address: String, now: Int) -> Bool {
        (owedUntil[ClientAddress.key(address)] ?? now) - now < Self.burst
    }

    /// Notes that `address` was wrong.
    mutating func note(_ address: String, now: Int) {
        if sparesLoopback, ClientAddress.isLoopback(address) {
            let most = Self.loopbackBurst + Self.longestWait / Self.loopbackStep
            loopbackOwedUntil = min(max(loopbackOwedUntil, now) + 1, now + most)
            return
        }
        let key = ClientAddress.key(address)
        if owedUntil.count >= Self.capacity, owedUntil[key] == nil {
            owedUntil = owedUntil.filter { $0.value > now }
            // All of them at it: a distributed guess at 128 bits is no danger, running out of memory would be.
            if owedUntil.count >= Self.capacity { owedUntil.removeAll() }
        }
        owedUntil[key] = min(max(owedUntil[key] ?? now, now) + 1, now + 2 * Self.burst)
    }

    /// How long the answer to something wrong from `address` is to be held back, in milliseconds.
    func wait(_ address: String, now: Int) -> Int {
        guard sparesLoopback, ClientAddress.isLoopback(address) else { return 0 }
        return min(Self.longestWait, max(0, loopbackOwedUntil - now - Self.loopbackBurst) * Self.loopbackStep)
    }
}
