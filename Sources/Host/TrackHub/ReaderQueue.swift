import MediaTypes

/// The units that one reader has not yet taken. The queue is bounded: on overflow it loses whole units up to the next
/// IDR.
public struct ReaderQueue: Sendable {
    /// How many units this reader has lost so far.
    public private(set) var lostUnits: UInt64 = 0

    private var units: [TrackUnit] = []
    private var byteCount = 0
    private var hasLost: Bool
    private let limits: CacheLimits

    /// Creates a queue that begins with `units`, the hub's cache.
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

    /// Begins again with the hub's cache, if units were lost and a reader can begin with the cache.
    public mutating func recover(with cache: [TrackUnit]) {
        guard hasLost, units.isEmpty, !cache.isEmpty else { return }
        units = cache
        byteCount = cache.reduce(0) { $0 + $1.unit.bytes.count }
        hasLost = false
    }

    /// Returns everything queued, oldest first, and empties the queue.
    public mutating func take() -> [TrackUnit] {
        let taken = units
        units = []
        byteCount = 0
        return taken
    }
}
