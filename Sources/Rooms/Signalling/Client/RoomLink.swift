import FoundationEssentials

/// The parts of an invite link, `http://HOST:PORT/#ROOM,TOKEN` or `#ROOM,TOKEN,PASSWORD`.
package struct RoomLink: Sendable {
    /// `http://HOST:PORT`
    package let origin: String
    /// Whether the host is reached over TLS.
    package let isSecure: Bool
    /// The host's name or address without the port; an IPv6 address is in brackets.
    package let name: String
    /// The host's port.
    package let port: UInt16
    /// `HOST:PORT`, for messages.
    package let host: String
    /// The room; empty for the host's first one.
    package let room: String
    /// The room's token; empty if the link has none.
    package let token: String
    /// The room's password; nil if the link has none.
    package let password: String?

    /// Reads a link; nil if `link` isn't one.
    package init?(_ link: String) {
        guard let parts = URLComponents(string: link), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let name = parts.percentEncodedHost, !name.isEmpty,
            parts.user == nil, parts.port.map({ (1...65535).contains($0) }) ?? true
        else { return nil }
        host = parts.port.map { "\(name):\($0)" } ?? name
        origin = "\(scheme)://\(host)"
        isSecure = scheme == "https"
        self.name = name
        port = UInt16(exactly: parts.port ?? (isSecure ? 443 : 80)) ?? 0
        let fragment = (parts.fragment ?? "").split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
        room = fragment.first.map(String.init) ?? ""
        token = fragment.count > 1 ? String(fragment[1]) : ""
        password = fragment.count > 2 ? String(fragment[2]) : nil
        guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    }
}
