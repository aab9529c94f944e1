/// Reads integers of either byte order from the front of a byte sequence.
///
/// Never traps: every read past the end returns nil.
public struct ByteReader: Sendable {
    /// The bytes that are left to read.
    public private(set) var rest: ArraySlice<UInt8>

    /// A reader at the front of `bytes`.
    public init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// A reader at the front of `bytes`.
    public init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// How many bytes are left.
    @inlinable public var count: Int { rest.count }
    /// Whether no bytes are left.
    @inlinable public var isEmpty: Bool { rest.isEmpty }

    /// The next byte.
    public mutating func uint8() -> UInt8? { rest.popFirst() }

    /// The next two bytes, most significant first.
    public mutating func uint16() -> UInt16? { bigEndian(2).map { UInt16(truncatingIfNeeded: $0) } }
    /// The next three bytes, most significant first.
    public mutating func uint24() -> UInt32? { bigEndian(3).map { UInt32(truncatingIfNeeded: $0) } }
    /// The next four bytes, most significant first.
    public mutating func uint32() -> UInt32? { bigEndian(4).map { UInt32(truncatingIfNeeded: $0) } }
    /// The next eight bytes, most significant first.
    public mutating func uint64() -> UInt64? { bigEndian(8) }

    /// The next two bytes, least significant first.
    public mutating func uint16LittleEndian() -> UInt16? { uint16()?.byteSwapped }
    /// The next four bytes, least significant first.
    public mutating func uint32LittleEndian() -> UInt32? { uint32()?.byteSwapped }
    /// The next eight bytes, least significant first.
    public mutating func uint64LittleEndian() -> UInt64? { uint64()?.byteSwapped }

    /// The next `count` bytes. Returns nil and reads nothing if there are fewer, or if `count` is negative.
    public mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        let taken = rest.prefix(count)
        rest = rest.dropFirst(count)
        return taken
    }

    private mutating func bigEndian(_ count: Int) -> UInt64? {
        guard let taken = bytes(count) else { return nil }
        var value: UInt64 = 0
        for byte in taken { value = value << 8 | UInt64(byte) }
        return value
    }
}
