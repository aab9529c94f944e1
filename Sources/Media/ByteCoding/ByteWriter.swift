/// Appends integers of either byte order to a growing array of bytes.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty writer with room for `capacity` bytes.
    public init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// How many bytes have been written.
    public var count: Int { bytes.count }

    /// Appends one byte.
    public mutating func uint8(_ value: UInt8) { bytes.append(value) }
    /// Appends two bytes, most significant byte first.
    public mutating func uint16(_ value: UInt16) { bigEndian(UInt64(value), 2) }
    /// Appends the low three bytes of `value`, most significant byte first.
    public mutating func uint24(_ value: UInt32) { bigEndian(UInt64(value), 3) }
    /// Appends four bytes, most significant byte first.
    public mutating func uint32(_ value: UInt32) { bigEndian(UInt64(value), 4) }
    /// Appends eight bytes, most significant byte first.
    public mutating func uint64(_ value: UInt64) { bigEndian(value, 8) }
    /// Appends two bytes, least significant byte first.
    public mutating func uint16LittleEndian(_ value: UInt16) { uint16(value.byteSwapped) }
    /// Appends four bytes, least significant byte first.
    public mutating func uint32LittleEndian(_ value: UInt32) { uint32(value.byteSwapped) }
    /// Appends eight bytes, least significant byte first.
    public mutating func uint64LittleEndian(_ value: UInt64) { uint64(value.byteSwapped) }

    /// Appends all of `more` unchanged.
    public mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Removes everything that was written, but keeps the memory for later writes.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Overwrites the eight bytes at `offset` with `value`, least significant byte first. The bytes must have been
    /// written already.
    public mutating func overwrite(uint64LittleEndian value: UInt64, at offset: Int) {
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(index * 8)) }
    }

    /// Overwrites the two bytes at `offset` with `value`, most significant byte first. The bytes must have been written
    /// already.
    public mutating func overwrite(uint16 value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    private mutating func bigEndian(_ value: UInt64, _ count: Int) {
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}
