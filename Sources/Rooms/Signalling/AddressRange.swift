import Glibc

/// Addresses that begin with the same bits, as `192.0.2.0/24`, `2001:db8::/32` or one address alone.
public struct AddressRange: Sendable, Equatable, CustomStringConvertible {
    public let description: String
    /// Four bytes or sixteen.
    private let bytes: [UInt8]
    /// How many bits of them count.
    private let length: Int

    /// An address in text, with the number of bits that count where it isn't all of them; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first, let bytes = Self.bytes(of: address) else { return nil }
        var length = bytes.count * 8
        if parts.count > 1 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1]),
                number <= length
            else { return nil }
            length = number
        }
        description = text
        self.bytes = bytes
        self.length = length
    }

    /// Whether an address, in text, is one of them. An IPv4 address that is written as IPv6 counts as IPv4.
    public func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        let whole = length / 8
        guard bytes[..<whole] == other[..<whole] else { return false }
        guard whole < bytes.count else { return true }
        let mask = ~(UInt8.max >> UInt8(length % 8))
        return (bytes[whole] ^ other[whole]) & mask == 0
    }

    private static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let literal = String(text.prefix { $0 != "%" })
        var four = in_addr()
        if inet_pton(AF_INET, literal, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, literal, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let isMapped = bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        return isMapped ? Array(bytes[12...]) : bytes
    }
}
