public import MediaTypes

/// An access unit's number on its track: running from zero, never used twice.
public struct UnitNumber: Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// The number `rawValue`.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The number that follows.
    public var next: UnitNumber { UnitNumber(rawValue &+ 1) }

    public static func < (left: UnitNumber, right: UnitNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The access units that a track sent last, kept once for all its sessions, so that any of them can send a packet again.
///
/// Bounded in units, bytes and time. The newest unit always stays, and so does the one before it for as long as the
/// bytes allow: after a pause, the loss of a picture's end may show only when the next picture comes.
/// Not thread safe: the media thread owns it.
public struct TrackHistory: Sendable {
    private struct Entry: Sendable {
        let unit: PacketizedAccessUnit
        let time: MonotonicTime
    }

    /// The most units kept: a power of two.
    public let maximumUnitCount: Int
    /// The most bytes kept, counted over all units but the newest.
    public let maximumByteCount: Int
    /// How long a unit is kept.
    public let maximumAge: Interval
    /// The bytes of all units kept.
    public private(set) var byteCount = 0
    /// The oldest unit kept; the same as `next` where there is none.
    public private(set) var oldest = UnitNumber(0)
    /// The number that the next unit gets.
    public private(set) var next = UnitNumber(0)

    private var ring: [Entry?]

    /// An empty history; `maximumUnitCount` is raised to a power of two.
    public init(maximumUnitCount: Int = 512, maximumByteCount: Int = 4 << 20, maximumAge: Interval = .seconds(2)) {
        var capacity = 2
        while capacity < min(maximumUnitCount, 1 << 16) { capacity *= 2 }
        self.maximumUnitCount = capacity
        self.maximumByteCount = maximumByteCount
        self.maximumAge = maximumAge
        ring = Array(repeating: nil, count: capacity)
    }

    /// How many units are kept.
    public var count: Int { Int(next.rawValue &- oldest.rawValue) }

    /// Keeps `unit` and gives it its number. What is now too much or too old goes.
    public mutating func append(_ unit: PacketizedAccessUnit, at now: MonotonicTime) -> UnitNumber {
        let number = next
        if count == maximumUnitCount { removeOldest() }
        ring[slot(number)] = Entry(unit: unit, time: now)
        byteCount += unit.unit.bytes.count
        next = number.next
        while count > 1, byteCount - unit.unit.bytes.count > maximumByteCount { removeOldest() }
        while count > 2, let entry = ring[slot(oldest)], now - entry.time > maximumAge { removeOldest() }
        return number
    }

    /// The unit `number`; nil where it is gone or was never there.
    public func unit(_ number: UnitNumber) -> PacketizedAccessUnit? {
        guard number >= oldest, number < next else { return nil }
        return ring[slot(number)]?.unit
    }

    /// Forgets every unit: their numbers are never used again.
    public mutating func removeAll() {
        while count > 0 { removeOldest() }
    }

    private func slot(_ number: UnitNumber) -> Int {
        Int(truncatingIfNeeded: number.rawValue) & (maximumUnitCount - 1)
    }

    private mutating func removeOldest() {
        byteCount -= ring[slot(oldest)]?.unit.unit.bytes.count ?? 0
        ring[slot(oldest)] = nil
        oldest = oldest.next
    }
}
