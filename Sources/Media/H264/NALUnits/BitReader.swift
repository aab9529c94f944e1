/// Reads bits and exponential Golomb codes from the front of an RBSP (ITU-T H.264 sections 7.2 and 9.1).
///
/// Never traps: every read past the end throws `H264Error.truncated`.
public struct BitReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a reader at the first bit of `bytes`, which must have no emulation prevention bytes left.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many bits are left.
    public var count: Int { bytes.count * 8 - position }

    /// Reads u(1). Throws `truncated` at the end.
    public mutating func flag() throws(H264Error) -> Bool {
        guard position >> 3 < bytes.count else { throw .truncated }
        let bit = bytes[position >> 3] >> UInt8(7 - position & 7) & 1
        position += 1
        return bit == 1
    }

    /// Reads u(n), where n is 0...32. Throws `truncated` if fewer bits are left.
    public mutating func bits(_ count: Int) throws(H264Error) -> UInt32 {
        guard count >= 0, count <= 32, count <= self.count else { throw .truncated }
        // Reads up to a byte at a time for speed, because whole slices are read this way.
        var value: UInt64 = 0
        var have = 0
        while have < count {
            let offset = position & 7
            let taken = min(8 - offset, count - have)
            let byte = UInt64(bytes[position >> 3]) >> UInt64(8 - offset - taken) & ((1 << UInt64(taken)) - 1)
            value = value << UInt64(taken) | byte
            have += taken
            position += taken
        }
        return UInt32(truncatingIfNeeded: value)
    }

    /// Skips `count` bits. Throws `truncated` if fewer bits are left.
    public mutating func skip(_ count: Int) throws(H264Error) {
        guard count >= 0, count <= self.count else { throw .truncated }
        position += count
    }

    /// Reads ue(v): 0...2^32 - 2. Throws `truncated`, or `outOfRange` for a code of more than 63 bits.
    public mutating func unsignedExpGolomb() throws(H264Error) -> UInt32 {
        var zeros = 0
        while try !flag() {
            zeros += 1
            guard zeros < 32 else { throw .outOfRange(element: "an exp-Golomb prefix", value: Int64(zeros)) }
        }
        // At most 2^31 - 1 + 2^31 - 1, which fits.
        return (1 << UInt32(zeros)) - 1 + (try bits(zeros))
    }

    /// Reads ue(v), and throws if the value is above `limit`.
    public mutating func unsignedExpGolomb(_ element: String, atMost limit: Int) throws(H264Error) -> Int {
        let value = Int64(try unsignedExpGolomb())
        guard value <= limit else { throw .outOfRange(element: element, value: value) }
        return Int(truncatingIfNeeded: value)
    }

    /// Reads se(v): -(2^31 - 1)...2^31 - 1. Throws the errors of ``unsignedExpGolomb()``.
    public mutating func signedExpGolomb() throws(H264Error) -> Int32 {
        let code = Int64(try unsignedExpGolomb())
        return Int32(truncatingIfNeeded: code & 1 == 1 ? (code + 1) / 2 : -(code / 2))
    }

    /// Reads se(v), and throws if the value is outside `limits`.
    public mutating func signedExpGolomb(_ element: String, within limits: ClosedRange<Int>) throws(H264Error) -> Int {
        let value = Int(try signedExpGolomb())
        guard limits.contains(value) else { throw .outOfRange(element: element, value: Int64(value)) }
        return value
    }

    /// more_rbsp_data(): whether there is data before the stop bit, which is the last 1 bit.
    public var hasMoreData: Bool {
        guard let lastIndex = bytes.lastIndex(where: { $0 != 0 }) else { return false }
        let trailingOne = lastIndex * 8 + 7 - bytes[lastIndex].trailingZeroBitCount
        return position < trailingOne
    }
}
