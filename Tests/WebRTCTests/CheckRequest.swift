import ByteCoding
import SecureTransport

/// A connectivity check as a browser sends it, written by an encoder of its own, so that ours is not asked about
/// itself.
///
///     header | USERNAME | PRIORITY | ICE-CONTROLLING or ICE-CONTROLLED [| USE-CANDIDATE] | MESSAGE-INTEGRITY |
///     FINGERPRINT
struct CheckRequest {
    /// `ufrag of the host:ufrag of the viewer`.
    var username: String
    /// The host's password.
    var password: String
    var nominates = true
    /// Whether the role is ICE-CONTROLLED.
    var isControlled = false
    var transaction: UInt64 = 1

    /// The datagram.
    var bytes: [UInt8] {
        var attributes = ByteWriter()
        Self.append(type: 0x0006, Array(username.utf8), to: &attributes)
        Self.append(type: 0x0024, [0x6E, 0x7F, 0x1E, 0xFF], to: &attributes)
        Self.append(type: isControlled ? 0x8029 : 0x802A, [1, 2, 3, 4, 5, 6, 7, 8], to: &attributes)
        if nominates { Self.append(type: 0x0025, [], to: &attributes) }
        let signed = message(attributes.bytes, following: 24)
        Self.append(
            type: 0x0008, Authentication.hmacSHA1(key: Array(password.utf8), data: signed), to: &attributes)
        let summed = message(attributes.bytes, following: 8)
        let sum = Self.checksum(summed) ^ 0x5354_554E
        var value = ByteWriter()
        value.uint32(sum)
        Self.append(type: 0x8028, value.bytes, to: &attributes)
        return message(attributes.bytes, following: 0)
    }

    /// The header and `attributes`, with a length that counts `following` more bytes in.
    private func message(_ attributes: [UInt8], following: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.uint16(0x0001)
        writer.uint16(UInt16(attributes.count + following))
        writer.uint32(0x2112_A442)
        writer.uint32(0x5CAB_1E00)
        writer.uint64(transaction)
        writer.append(attributes)
        return writer.bytes
    }

    private static func append(type: UInt16, _ value: [UInt8], to writer: inout ByteWriter) {
        writer.uint16(type)
        writer.uint16(UInt16(value.count))
        writer.append(value)
        for _ in 0..<(-value.count & 3) { writer.uint8(0) }
    }

    /// CRC-32, a bit at a time.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
