/// The units since the last IDR: all that a reader needs to begin now.
///
/// If its limits are exceeded, it drops everything and stays empty until the next IDR, since a partial cache is of no
/// use.
public struct UnitCache<Unit: Sendable>: Sendable {
    /// The units from an IDR on, in order; empty if there is no IDR within the limits.
    public private(set) var units: [Unit] = []
    /// Bytes of all cached units together.
    public private(set) var byteCount = 0

    private let limits: CacheLimits

    /// An empty cache.
    public init(limits: CacheLimits = CacheLimits()) {
        self.limits = limits
    }

    /// Whether a reader can begin with the cached units.
    public var canStart: Bool { !units.isEmpty }

    /// Adds the next unit of the track.
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

    /// Drops all units, for example after a loss in front of them.
    public mutating func clear() {
        units.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}

/// The limits of a cache.
public struct CacheLimits: Sendable {
    /// Bytes of coded pictures. A single IDR is kept whatever its size, since the link has limited it already.
    public var bytes: Int
    /// Number of pictures.
    public var units: Int

    /// Creates limits; the defaults are those of the design, 2 MiB and 300 pictures.
    public init(bytes: Int = 2 << 20, units: Int = 300) {
        self.bytes = bytes
        self.units = units
    }
}
