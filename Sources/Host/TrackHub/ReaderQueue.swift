import MediaTypes

/// What one reader has not yet taken: bounded, and losing whole units up to the next IDR when it overflows.
public struct ReaderQueue: Sendable {
    /// Units lost by this reader so far.
    public private(set) var lostUnits: UInt64 = 0

    private var units: [TrackUnit] = []
    private var byteCount = 0
    private var hasLost: Bool
    private let limits: CacheLimits

    /// A queue that begins with `units`, the hub's cache.
    public init(startingWith units: [TrackUnit], limits: CacheLimits) {
        self.limits = limits
        self.units = units
        byteCount = units.reduce(0) { $0 + $1.unit.bytes.count }
        hasLost = units.isEmpty
    }

    /// Adds the track's next unit; on overflow the queue is emptied and waits for an IDR.
    ///
    /// - Returns: whether there is something new to take.
    public mutating func append(_ unit: TrackUnit) -> Bool {
        if hasLost {
            guard unit.unit.isIDR else {
                lostUnits += 1
                return false
            }
            hasLost = false
        } else if units.count >= limits.units || byteCount + unit.unit.bytes.count > limits.bytes, !units.isEmpty {
            lostUnits += UInt64(units.count)
            units.removeAll(keepingCapacity: true)
            byteCount = 0
            guard unit.unit.isIDR else {
                lostUnits += 1
                hasLost = true
                return false
            }
        }
        units.append(unit)
        byteCount += unit.unit.bytes.count
        return true
    }

    /// Begins anew with the hub's cache, if units were lost and the cache can start.
    public mutating func recover(with cache: [TrackUnit]) {
        guard hasLost, units.isEmpty, !cache.isEmpty else { return }
        units = cache
        byteCount = cache.reduce(0) { $0 + $1.unit.bytes.count }
        hasLost = false
    }

    /// Everything queued, oldest first; empties the queue.
    public mutating func take() -> [TrackUnit] {
        let taken = units
        units = []
        byteCount = 0
        return taken
    }
}
