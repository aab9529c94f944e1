/// A token bucket for the requests of each address: a rate in requests per second, and a burst after a quiet time.
///
/// Loopback isn't counted, because all clients behind a reverse proxy on this machine have that address. At most 4,096
/// addresses are remembered. Time is an argument, in microseconds.
struct RequestRate {
    static let capacity = 4096

    private let sparesLoopback: Bool
    /// The cost of one request, in microseconds.
    private let price: Int
    /// The size of the burst, in microseconds.
    private let savings: Int
    /// For each address, the time up to which its requests are paid for.
    private var paid: [String: Int] = [:]

    /// Allows `perSecond` requests on average and `burst` at once.
    init(perSecond: Int, burst: Int, sparesLoopback: Bool = true) {
        self.sparesLoopback = sparesLoopback
        price = 1_000_000 / max(1, perSecond)
        savings = price * max(1, burst)
    }

    /// The number of addresses that are remembered.
    var count: Int { paid.count }

    /// Returns whether `address` may make a request now, and counts it if so.
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
