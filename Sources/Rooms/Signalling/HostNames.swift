import CGLib

/// The names that a Host header may have.
///
/// Against DNS rebinding: a page of some other site whose name was made to point here asks for that name. A literal
/// address can't be rebound, so with the server open to the network each one will do (a forwarded port has the router's).
struct HostNames: Sendable, CustomStringConvertible {
    private let names: Set<String>
    private let takesEveryLiteral: Bool

    /// `machineName` counts with `lan` only, and so do addresses that aren't loopback's.
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

    /// As `configuration` says, and the names that `certificate` is good for: nobody else's page has those.
    init(_ configuration: SignallingConfiguration, certificate: TLSCertificate?) {
        self.init(
            listening: configuration.listen, lan: configuration.lan, machineName: String(cString: g_get_host_name()),
            more: configuration.hostNames + (certificate?.names ?? []))
    }

    /// What to tell whoever asked by another name.
    var description: String {
        let others = takesEveryLiteral ? ", and to every IP address" : ""
        return "this host does not answer to the name in the request's Host header.\n"
            + "It answers to \(names.sorted().joined(separator: ", "))\(others).\n"
            + "Open the link with one of these, or have the proxy in front of the host send one of these as Host. A host that is "
            + "started with --lan answers to its machine's name and every IP address as well, with --tls-cert to the names "
            + "in the certificate, and with --advertise ADDRESS to that address."
    }

    /// Whether `header`, a Host header's value, names this server. The port is not looked at: it may be a proxy's.
    func accept(_ header: String?) -> Bool {
        guard let header, let authority = Authority(header) else { return false }
        return names.contains(authority.host) || (takesEveryLiteral && authority.isLiteral)
    }
}

/// A host and a port as they stand in a Host header or an origin (RFC 9110 section 7.2, RFC 6454 section 6.2).
struct Authority: Equatable, Sendable {
    /// In lower case, with the brackets of an IPv6 address, without a last dot.
    let host: String
    /// nil where it's the scheme's own.
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

    /// Whether the host is an address and not a name.
    var isLiteral: Bool {
        if host.hasPrefix("[") { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    }
}

/// Where a request comes from, by its Origin header.
enum RequestOrigin: Equatable, Sendable {
    /// Not from a page of another origin: no Origin header, or our own page's.
    case ours
    /// A page of an origin that was allowed by name; the value is what an answer has to repeat.
    case allowed(String)
    /// Any other page's; the same.
    case foreign(String)
    /// A header that isn't one origin.
    case malformed

    /// Compares `header` with the `Host` it came with, and with `allowed` origins.
    init(header: String?, host: String?, allowed: Set<String>) {
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
        // Some clients that aren't pages name the WebSocket's own scheme (Starscream).
        let ownPort: UInt16 = scheme == "https" || scheme == "wss" ? 443 : 80
        if let host = host.flatMap({ Authority($0) }), ["http", "https", "ws", "wss"].contains(scheme),
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
