/// Appends integers of either byte order to a growing array of bytes.
public struct ByteWriter: Sendable {
    /// What was written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer with room for `capacity` bytes.
    public init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// How many bytes were written.
    public var count: Int { bytes.count }

    public mutating func uint8(_ value: UInt8) { bytes.append(value) }
    /// Most significant byte first.
    public mutating func uint16(_ value: UInt16) { bigEndian(UInt64(value), 2) }
    /// The low three bytes, most significant byte first.
    public mutating func uint24(_ value: UInt32) { bigEndian(UInt64(value), 3) }
    /// Most significant byte first.
    public mutating func uint32(_ value: UInt32) { bigEndian(UInt64(value), 4) }
    /// Most significant byte first.
    public mutating func uint64(_ value: UInt64) { bigEndian(value, 8) }
    /// Least significant byte first.
    public mutating func uint16LittleEndian(_ value: UInt16) { uint16(value.byteSwapped) }
    /// Least significant byte first.
    public mutating func uint32LittleEndian(_ value: UInt32) { uint32(value.byteSwapped) }
    /// Least significant byte first.
    public mutating func uint64LittleEndian(_ value: UInt64) { uint64(value.byteSwapped) }

    /// All of `more`, as it is.
    public mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Forgets all that was written, and keeps the memory for what comes next.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Writes `value`, least significant byte first, over the eight bytes at `offset`, which must have been written already.
    public mutating func overwrite(uint64LittleEndian value: UInt64, at offset: Int) {
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8)) }
    }

    /// Writes `value` over the two bytes at `offset`, which must have been written already.
    public mutating func overwrite(uint16 value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    private mutating func bigEndian(_ value: UInt64, _ count: Int) {
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}
