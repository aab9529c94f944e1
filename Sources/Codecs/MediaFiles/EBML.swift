/// Builds EBML (RFC 8794): elements that consist of an identifier, a length and data.
struct EBML {
    private(set) var bytes: [UInt8] = []

    /// Appends an element with binary data.
    mutating func append(_ id: UInt32, _ payload: [UInt8]) {
        appendIdentifier(id)
        appendSize(payload.count)
        bytes += payload
    }

    /// Appends an element that contains other elements.
    mutating func append(_ id: UInt32, _ children: EBML) { append(id, children.bytes) }

    /// Appends an unsigned integer in as few bytes as possible.
    mutating func append(_ id: UInt32, _ value: UInt64) {
        append(id, Self.bigEndian(value, count: max(1, (71 - value.leadingZeroBitCount) / 8)))
    }

    /// Appends an unsigned integer in eight bytes, so that it can be overwritten later.
    mutating func appendWide(_ id: UInt32, _ value: UInt64) { append(id, Self.bigEndian(value, count: 8)) }

    /// Appends a 64-bit floating-point number.
    mutating func appendFloat(_ id: UInt32, _ value: Double) { append(id, Self.bigEndian(value.bitPattern, count: 8)) }

    mutating func append(_ id: UInt32, _ text: String) { append(id, Array(text.utf8)) }

    /// Appends the identifier and length of an element whose `count` bytes are written separately.
    mutating func appendFront(_ id: UInt32, count: Int) {
        appendIdentifier(id)
        appendSize(count)
    }

    /// Appends the front of an element of unknown length. Its eight length bytes are overwritten later with
    /// ``wideSize(_:)``.
    mutating func appendOpenFront(_ id: UInt32) {
        appendIdentifier(id)
        bytes += Self.openSize
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// The length "unknown" (RFC 8794 section 6.2), in eight bytes.
    private static let openSize: [UInt8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]

    /// A length in eight bytes.
    static func wideSize(_ count: UInt64) -> [UInt8] { bigEndian(count & 0x00FF_FFFF_FFFF_FFFF | 1 << 56, count: 8) }

    static func bigEndian(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    /// Identifiers include their length marker, as in the specification.
    private mutating func appendIdentifier(_ id: UInt32) {
        bytes += Self.bigEndian(UInt64(id), count: max(1, (39 - id.leadingZeroBitCount) / 8))
    }

    /// Appends a length in as few bytes as possible. A length with all bits set would mean "unknown".
    private mutating func appendSize(_ count: Int) {
        let value = UInt64(count)
        var width = 1
        while width < 8, value >= (1 << UInt64(7 * width)) - 1 { width += 1 }
        bytes += Self.bigEndian(value | 1 << UInt64(7 * width), count: width)
    }
}
