/// Recognizes this machine's loopback in hosts that are given as text.
public enum Loopback {
    /// Whether `host`, a name or a numeric address without brackets, is `localhost`, in 127.0.0.0/8 (also as an
    /// IPv4-mapped IPv6 address), or `::1`. As a client's address, all programs on this machine share it, and so do all
    /// clients behind a reverse proxy that runs here.
    public static func contains(_ host: String) -> Bool {
        if host == "::1" || host.lowercased() == "localhost" { return true }
        let mapped = "::ffff:"
        let numbers = host.hasPrefix(mapped) ? host.dropFirst(mapped.count) : host[...]
        // A name may begin with the same characters, such as 127.example.
        return numbers.hasPrefix("127.") && numbers.allSatisfy { $0 == "." || $0.isNumber }
    }

    /// Whether the host in `authority`, a URL's `[USER@]HOST[:PORT]` where an IPv6 address has brackets, is as in
    /// ``contains(_:)``.
    public static func contains(authority: Substring) -> Bool {
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let host = place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
        return contains(String(host))
    }
}
