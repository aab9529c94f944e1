import Glibc

/// Classifies client addresses, and groups those that one client may own.
public enum ClientAddress {
    /// Whether `address`, in text, is a loopback address. All programs on this machine share it, and so do all clients
    /// behind a reverse proxy that runs here.
    public static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }

    /// Returns the key under which an address is counted: for IPv4, the address itself, even if it is written as IPv6;
    /// for IPv6, its first 64 bits, because a client that has one address of a /64 network has them all. A link-local
    /// address is counted in full, because all machines share `fe80::/64`.
    public static func key(_ address: String) -> String {
        guard address.contains(":") else { return address }
        let literal = address.prefix { $0 != "%" }
        var parsed = in6_addr()
        guard inet_pton(AF_INET6, String(literal), &parsed) == 1 else { return address }
        let bytes = withUnsafeBytes(of: parsed) { Array($0) }
        if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) {
            return bytes[12...].map { String($0) }.joined(separator: ".")
        }
        let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        return bytes[..<(isLinkLocal ? 16 : 8)].map { String($0, radix: 16) }.joined(separator: ":")
    }
}
