import Glibc

/// A range of addresses with a common prefix, such as `192.0.2.0/24` or `2001:db8::/32`. Without a prefix length, it is
/// a single address.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    /// Four or sixteen bytes; the bits after the prefix are zero.
    private let bytes: [UInt8]
    private let bits: Int

    /// Parses a range; nil if `text` isn't one.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let bytes = Self.bytes(of: String(parts[0])) else { return nil }
        guard parts.count > 1 else {
            self.init(bytes, bits: bytes.count * 8)
            return
        }
        let digits = parts[1].utf8
        guard parts.count == 2, (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(parts[1]), bits <= bytes.count * 8
        else { return nil }
        self.init(bytes, bits: bits)
    }

    /// The addresses that may all belong to the same party as `address`: its /64 for IPv6, and only itself for IPv4.
    public init?(around address: String) {
        guard let bytes = Self.bytes(of: address) else { return nil }
        self.init(bytes, bits: bytes.count == 4 ? 32 : 64)
    }

    private init(_ bytes: [UInt8], bits: Int) {
        self.bytes = bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
        self.bits = bits
    }

    /// Whether the range contains an address, given in numeric form.
    public func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return AddressRange(other, bits: bits) == self
    }

    /// Parses a numeric address. An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) becomes the IPv4 address, and
    /// the interface name of a link-local address is ignored.
    private static func bytes(of text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        var six = in6_addr()
        let digits = text.prefix { $0 != "%" }
        guard inet_pton(AF_INET6, String(digits), &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        return bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }

    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        inet_ntop(family, bytes, &text, socklen_t(text.count))
        return "\(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))/\(bits)"
    }
}
