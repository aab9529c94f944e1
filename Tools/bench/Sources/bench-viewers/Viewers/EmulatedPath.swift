import MediaTypes

/// The network path from the host to one viewer, emulated at the viewer: it loses datagrams at random, and carries only
/// so many bits per second, with a queue before its narrow place.
///
/// Pure: belongs to its caller. Which datagrams are lost, by their count, depends only on the seed.
struct EmulatedPath {
    /// A datagram that would wait longer in the queue is dropped.
    private static let queueLimit = Interval.milliseconds(200)
    /// The headers of IPv4 and UDP.
    private static let headerByteCount = 28

    private let loss: Double
    private let rate: BitRate?
    private var seed: UInt64
    /// When the narrow place has sent all that it accepted.
    private var freeAt = MonotonicTime.zero

    init(_ path: ViewerPath, seed: UInt64) {
        loss = path.loss
        rate = path.rate
        self.seed = seed
    }

    /// Returns when a datagram of `byteCount` bytes that enters the path at `arrival` leaves it, or nil if it is lost.
    mutating func exit(of byteCount: Int, at arrival: MonotonicTime) -> MonotonicTime? {
        if loss > 0, random() < loss { return nil }
        guard let rate else { return arrival }
        let start = max(arrival, freeAt)
        guard start - arrival <= Self.queueLimit else { return nil }
        let bits = Int64(byteCount + Self.headerByteCount) * 8
        freeAt = start + Interval(nanoseconds: bits * 1_000_000_000 / Int64(rate.bitsPerSecond))
        return freeAt
    }

    /// A number from 0 up to 1, by SplitMix64.
    private mutating func random() -> Double {
        seed &+= 0x9E37_79B9_7F4A_7C15
        var mixed = seed
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / Double(UInt64(1) << 53)
    }
}
