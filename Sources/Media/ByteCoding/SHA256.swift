/// SHA-256 (FIPS 180-4, section 6.2), for programs that don't link a cryptography library.
///
///     var hash = SHA256()
///     hash.update([0x61, 0x62, 0x63])
///     hash.finish()                        // ba 78 16 bf …
public struct SHA256: Sendable {
    /// The length of a digest in bytes.
    public static let digestCount = 32
    /// The length of a message block in bytes.
    static let blockCount = 64

    private var state: [UInt32] = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    /// The bytes that don't fill a block yet.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    /// A hash of no bytes yet.
    public init() {}

    /// Adds the next bytes of the message.
    public mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            rest.append(byte)
            count &+= 1
            if rest.count == Self.blockCount { compress() }
        }
    }

    /// The digest of all bytes added so far.
    public consuming func finish() -> [UInt8] {
        let bits = count &* 8
        rest.append(0x80)
        // The length needs the last eight bytes of a block.
        if rest.count > Self.blockCount - 8 { fill(to: Self.blockCount) }
        fill(to: Self.blockCount - 8)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            rest.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        compress()
        return state.flatMap { word in
            stride(from: UInt32(24), through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    private mutating func fill(to end: Int) {
        while rest.count < end { rest.append(0) }
        if end == Self.blockCount { compress() }
    }

    private mutating func compress() {
        var words = stride(from: 0, to: Self.blockCount, by: 4).map { index in
            rest[index..<index + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        rest.removeAll(keepingCapacity: true)
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first: UInt32 = early.rotated(7) ^ early.rotated(18) ^ early >> 3
            let second: UInt32 = late.rotated(17) ^ late.rotated(19) ^ late >> 10
            words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let choice: UInt32 = e & f ^ ~e & g
            let majority: UInt32 = a & b ^ a & c ^ b & c
            let sums: (UInt32, UInt32) = (
                a.rotated(2) ^ a.rotated(13) ^ a.rotated(22), e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)
            )
            let first = h &+ sums.1 &+ choice &+ Self.constants[index] &+ words[index]
            let second = sums.0 &+ majority
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
    /// The authentication code of `message` under `key`.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > SHA256.blockCount ? digest(key) : key
        block += [UInt8](repeating: 0, count: SHA256.blockCount - block.count)
        return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
    }

    /// Whether two codes are equal. The time taken doesn't depend on where they first differ.
    @inline(never)
    public static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        var difference: UInt8 = 0
        for index in one.indices { difference |= one[index] ^ other[index] }
        return difference == 0
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }
}

extension UInt32 {
    /// The bits rotated right by `count`.
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
