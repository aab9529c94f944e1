import Glibc

/// Groups client addresses that one client may own.
public enum ClientAddress {
    /// Returns the key under which an address is counted: for IPv4, the address itself, even if it is written as IPv6;
    /// for IPv6, its first 64 bits, because a client that has one address of a /64 network has them all. A link-local
    /// address is counted in full, because all machines share `fe80::/64`.
    public static func key(_ address: String) -> String {
        guard let bytes = sixteenBytes(of: address) else { return address }
        if bytes.starts(with: mapped) {
            return bytes[12...].map { String($0) }.joined(separator: ".")
        }
        return bytes[..<(isLinkLocal(bytes) ? 16 : 8)].map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// Returns the key under which the network of an IPv6 address is counted as well, with a larger limit: its first
    /// 48 bits, because one customer has up to 65,536 networks of 64 bits. Nil for other addresses.
    public static func networkKey(_ address: String) -> String? {
        guard let bytes = sixteenBytes(of: address), !isLinkLocal(bytes), !bytes.starts(with: mapped) else {
            return nil
        }
        return bytes[..<6].map { String($0, radix: 16) }.joined(separator: ":") + "/48"
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private static func isLinkLocal(_ bytes: [UInt8]) -> Bool { bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }

    private static func sixteenBytes(of address: String) -> [UInt8]? {
        guard address.contains(":") else { return nil }
        var parsed = in6_addr()
        guard inet_pton(AF_INET6, String(address.prefix { $0 != "%" }), &parsed) == 1 else { return nil }
        return withUnsafeBytes(of: parsed) { Array($0) }
    }
}
