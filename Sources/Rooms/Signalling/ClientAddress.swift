import Glibc

/// What a client's address says about who shares it.
enum ClientAddress {
    /// Whether `address`, in text, is this machine's own to itself: all of its programs have it, and so has everybody behind a
    /// reverse proxy that runs here.
    static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
    }

    /// What is counted under one name: an IPv4 address, also where it is written as IPv6; of an IPv6 address the first 64 bits,
    /// for whoever has one of them has the rest. A link-local address is counted by itself: `fe80::/64` is every machine's.
    static func key(_ address: String) -> String {
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
