import CGLib

/// The names that are accepted in a Host header.
///
/// This prevents DNS rebinding: another site's page whose name was made to resolve to this machine sends that name. A
/// literal address can't be rebound, so a server that is open to the network accepts every one (a forwarded port is
/// reached by the router's address).
struct HostNames: Sendable, CustomStringConvertible {
    private let names: Set<String>
    private let takesEveryLiteral: Bool

    /// Without `lan`, `machineName` and addresses other than loopback are not accepted.
    init(listening: [ListenAddress], lan: Bool, machineName: String, more: [String]) {
        var names: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
        for address in listening {
            names.insert(
                address.address.contains(":") ? "[\(address.address.lowercased())]" : address.address.lowercased())
        }
        if lan, !machineName.isEmpty {
            names.insert(machineName.lowercased())
            names.insert(machineName.lowercased() + ".local")
        }
        names.formUnion(more.map { $0.lowercased() })
        self.names = names
        takesEveryLiteral = lan
    }

    /// Creates the names from `configuration`, plus those in `certificate`, which no other site's page can have.
    init(_ configuration: SignallingConfiguration, certificate: TLSCertificate?) {
        self.init(
            listening: configuration.listen, lan: configuration.lan, machineName: String(cString: g_get_host_name()),
            more: configuration.hostNames + (certificate?.names ?? []))
    }

    /// The message for a client that used another name.
    var description: String {
        let others = takesEveryLiteral ? ", and to every IP address" : ""
        return "this host does not answer to the name in the request's Host header.\n"
            + "It answers to \(names.sorted().joined(separator: ", "))\(others).\n"
            + "Open the invite link with one of these, or have the proxy in front of the host send one of these as Host. A host that is "
            + "started with --lan answers to its machine's name and every IP address as well, with --tls-cert to the names "
            + "in the certificate, and with --advertise ADDRESS to that address."
    }

    /// Whether `header`, the value of a Host header, names this server. The port is ignored, because it may be a
    /// proxy's.
    func accept(_ header: String?) -> Bool {
        guard let header, let authority = Authority(header) else { return false }
        return names.contains(authority.host) || (takesEveryLiteral && authority.isLiteral)
    }
}

/// A host and port as in a Host header or an origin (RFC 9110 section 7.2, RFC 6454 section 6.2).
struct Authority: Equatable, Sendable {
    /// The host in lower case, with the brackets of an IPv6 address and without a trailing dot.
    let host: String
    /// nil for the scheme's default port.
    let port: UInt16?

    init?(_ text: some StringProtocol) {
        var host = Substring(text.lowercased())
        var port: UInt16?
        let colon = host.lastIndex(of: ":")
        if let colon, !host.hasPrefix("[") || host[..<colon].hasSuffix("]") {
            let digits = host[host.index(after: colon)...]
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = UInt16(digits) else { return nil }
            port = number
            host = host[..<colon]
        }
        if host.hasSuffix(".") { host.removeLast() }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let inner = isBracketed ? host.dropFirst().dropLast() : host
        let isWritten = inner.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            case UInt8(ascii: ":"): isBracketed
            default: false
            }
        }
        guard !inner.isEmpty, isWritten else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// Whether the host is an IP address rather than a name.
    var isLiteral: Bool {
        if host.hasPrefix("[") { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    }
}

/// The origin of a request, according to its Origin header.
enum RequestOrigin: Equatable, Sendable {
    /// No other origin: there is no Origin header, or it is our own page's.
    case ours
    /// A page of an origin that is explicitly allowed. The response must repeat the value.
    case allowed(String)
    /// A page of any other origin. The response must repeat the value.
    case foreign(String)
    /// A header that isn't a single origin.
    case malformed

    /// Compares `header` with the request's `Host` header and with the `allowed` origins. A page without TLS isn't ours
    /// if the request came with TLS: an attacker on the path may have written it.
    init(header: String?, host: String?, isSecured: Bool, allowed: Set<String>) {
        guard let header else {
            self = .ours
            return
        }
        guard header != "null" else {
            self = .foreign("null")
            return
        }
        guard let (scheme, authority) = Self.parse(header) else {
            self = .malformed
            return
        }
        // Some clients that aren't pages use the WebSocket scheme (Starscream).
        let isSecure = scheme == "https" || scheme == "wss"
        let ownPort: UInt16 = isSecure ? 443 : 80
        if isSecure || !isSecured, let host = host.flatMap({ Authority($0) }),
            ["http", "https", "ws", "wss"].contains(scheme),
            host.host == authority.host,
            (host.port ?? ownPort) == (authority.port ?? ownPort)
        {
            self = .ours
        } else {
            self = allowed.contains(header.lowercased()) ? .allowed(header) : .foreign(header)
        }
    }

    private static func parse(_ origin: String) -> (scheme: String, Authority)? {
        guard let mark = origin.firstRange(of: "://") else { return nil }
        let scheme = origin[..<mark.lowerBound].lowercased()
        guard !scheme.isEmpty, scheme.utf8.allSatisfy({ ($0 >= 0x61 && $0 <= 0x7A) || $0 == UInt8(ascii: "-") }),
            let authority = Authority(origin[mark.upperBound...])
        else { return nil }
        return (scheme, authority)
    }
}
