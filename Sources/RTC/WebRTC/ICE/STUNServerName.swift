import CLinux
import Glibc
import STUN
import Threading

/// A STUN server as the user names it.
struct STUNServerName: Sendable, Hashable {
    /// What the user wrote.
    let text: String
    private let host: String
    private let port: UInt16

    /// Parses `stun.example.org`, `stun.example.org:3478`, `192.0.2.1:3478`, `2001:db8::1` or `[2001:db8::1]:3478`; nil
    /// if `text` is none of these. The default port is 3478 (RFC 8489 section 18.6).
    init?(_ text: String) {
        self.text = text
        var (host, port) = (text[...], "3478"[...])
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            if !rest.isEmpty { port = rest.dropFirst() }
        } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard let number = UInt16(port), number > 0, !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = number
    }

    /// The server's addresses, at most one of each family. May block for seconds, because getaddrinfo(3) has no
    /// timeout.
    func resolve() -> [TransportAddress] {
        if let address = TransportAddress(numeric: host, port: port) { return [address.unmapped] }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
        defer { if let list { freeaddrinfo(list) } }
        var found: [TransportAddress] = []
        var entry = list
        while let one = entry {
            entry = one.pointee.ai_next
            var end = shim_endpoint()
            guard let address = one.pointee.ai_addr, shim_endpoint_from(address, &end) == 0 else { continue }
            let transport = TransportAddress(end)
            if !found.contains(where: { $0.family == transport.family }) { found.append(transport) }
        }
        return found
    }
}
