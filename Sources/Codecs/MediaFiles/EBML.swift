/// Bytes of EBML (RFC 8794): elements of an identifier, a length and what they hold.
struct EBML {
    private(set) var bytes: [UInt8] = []

    /// An element of bytes.
    mutating func append(_ id: UInt32, _ payload: [UInt8]) {
        appendIdentifier(id)
        appendSize(payload.count)
        bytes += payload
    }

    /// An element that holds others.
    mutating func append(_ id: UInt32, _ children: EBML) { append(id, children.bytes) }

    /// An unsigned integer, in as few bytes as hold it.
    mutating func append(_ id: UInt32, _ value: UInt64) {
        append(id, Self.bigEndian(value, count: max(1, (71 - value.leadingZeroBitCount) / 8)))
    }

    /// An unsigned integer in eight bytes, so that another one can take its place.
    mutating func appendWide(_ id: UInt32, _ value: UInt64) { append(id, Self.bigEndian(value, count: 8)) }

    /// A floating-point number of 64 bits.
    mutating func appendFloat(_ id: UInt32, _ value: Double) { append(id, Self.bigEndian(value.bitPattern, count: 8)) }

    mutating func append(_ id: UInt32, _ text: String) { append(id, Array(text.utf8)) }

    /// The front of an element of so many bytes that are written elsewhere.
    mutating func appendFront(_ id: UInt32, count: Int) {
        appendIdentifier(id)
        appendSize(count)
    }

    /// The front of an element whose length is not known yet: eight bytes that ``wideSize(_:)`` takes the place of.
    mutating func appendOpenFront(_ id: UInt32) {
        appendIdentifier(id)
        bytes += Self.openSize
    }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// "Unknown" (RFC 8794 section 6.2), in eight bytes.
    private static let openSize: [UInt8] = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]

    /// A length in eight bytes.
    static func wideSize(_ count: UInt64) -> [UInt8] { bigEndian(count & 0x00FF_FFFF_FFFF_FFFF | 1 << 56, count: 8) }

    static func bigEndian(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    /// Identifiers are written with their marker, as they stand in the specification.
    private mutating func appendIdentifier(_ id: UInt32) {
        bytes += Self.bigEndian(UInt64(id), count: max(1, (39 - id.leadingZeroBitCount) / 8))
    }

    /// In as few bytes as hold it; all ones would mean "unknown".
    private mutating func appendSize(_ count: Int) {
        let value = UInt64(count)
        var width = 1
        while width < 8, value >= (1 << UInt64(7 * width)) - 1 { width += 1 }
        bytes += Self.bigEndian(value | 1 << UInt64(7 * width), count: width)
    }
}
