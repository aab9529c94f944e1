/// The units since the last IDR: all that a reader needs to begin now.
///
/// Past its limits it lets go of everything and stays empty until the next IDR: half a cache helps nobody.
public struct UnitCache<Unit: Sendable>: Sendable {
    /// From an IDR on, in order; empty where there is none within the limits.
    public private(set) var units: [Unit] = []
    /// Bytes of all cached units together.
    public private(set) var byteCount = 0

    private let limits: CacheLimits

    /// An empty cache.
    public init(limits: CacheLimits = CacheLimits()) {
        self.limits = limits
    }

    /// Whether a reader could begin with what is here.
    public var canStart: Bool { !units.isEmpty }

    /// Takes the next unit of the track.
    public mutating func append(_ unit: Unit, byteCount count: Int, isIDR: Bool) {
        if isIDR {
            units.removeAll(keepingCapacity: true)
            byteCount = 0
        } else if units.isEmpty {
            return
        }
        let isWithinLimits = units.count < limits.units && byteCount + count <= limits.bytes
        guard isIDR || isWithinLimits else {
            clear()
            return
        }
        units.append(unit)
        byteCount += count
    }

    /// Forgets everything, as after a loss in front of the cache.
    public mutating func clear() {
        units.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}

/// How much a cache keeps.
public struct CacheLimits: Sendable {
    /// Bytes of coded pictures. An IDR alone is kept whatever its size: the link has bounded it already.
    public var bytes: Int
    /// Pictures.
    public var units: Int

    /// The design's limits unless told otherwise: 2 MiB, 300 pictures.
    public init(bytes: Int = 2 << 20, units: Int = 300) {
        self.bytes = bytes
        self.units = units
    }
}
