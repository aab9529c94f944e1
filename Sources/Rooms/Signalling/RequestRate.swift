/// How many requests each address makes: so many a second on average, and what it has saved up by being quiet at once.
///
/// Loopback isn't counted: everybody behind a reverse proxy of this machine has that address. At most 4,096 addresses are
/// remembered. Time is an argument, in microseconds.
struct RequestRate {
    static let capacity = 4096

    private let sparesLoopback: Bool
    /// What one request costs, in microseconds.
    private let price: Int
    /// What can be saved up, in microseconds.
    private let savings: Int
    /// When the requests of an address so far are paid for.
    private var paid: [String: Int] = [:]

    /// `perSecond` on average, and `burst` at once.
    init(perSecond: Int, burst: Int, sparesLoopback: Bool = true) {
        self.sparesLoopback = sparesLoopback
        price = 1_000_000 / max(1, perSecond)
        savings = price * max(1, burst)
    }

    /// How many addresses are remembered.
    var count: Int { paid.count }

    /// Whether `address` may make a request now; counts it then.
    mutating func take(_ address: String, now: Int) -> Bool {
        guard !sparesLoopback || !ClientAddress.isLoopback(address) else { return true }
        let key = ClientAddress.key(address)
        if paid.count >= Self.capacity, paid[key] == nil {
            paid = paid.filter { $0.value > now - savings }
            if paid.count >= Self.capacity { paid.removeAll() }
        }
        let next = max(paid[key] ?? 0, now - savings) + price
        guard next <= now else { return false }
        paid[key] = next
        return true
    }
}
