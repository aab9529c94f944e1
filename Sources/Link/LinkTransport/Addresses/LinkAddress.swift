/// The address at which capture and host meet: the path of a Unix socket, a TCP port, or a socket that another process
/// has passed on, connected or listening.
public enum LinkAddress: Equatable, Sendable, CustomStringConvertible {
    /// `unix:PATH`
    case unix(path: String)
    /// `tcp:HOST:PORT`, where the host is a name or an address without brackets. A listener may use port 0 for any free
    /// port.
    case tcp(host: String, port: UInt16)
    /// `tls:HOST:PORT`: the same, encrypted with a key from the capture key.
    case tls(host: String, port: UInt16)
    /// `fd:N`
    case descriptor(Int32)

    /// Parses `unix:PATH`, `tcp:HOST:PORT`, `tcp:PORT` (only this machine), the same with `tls:`, or `fd:N`.
    ///
    /// - Throws: `invalidAddress` with what would be right, or `pathTooLong`.
    public init(parsing text: String) throws(SocketError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            if path.isEmpty {
                throw .invalidAddress(text: text, reason: "a path must follow, such as unix:/run/user/1000/link.sock")
            }
            _ = try SocketAddress(path: path)
            self = .unix(path: path)
        } else if text.hasPrefix("tcp:") {
            let (host, port) = try Self.place(in: text, after: "tcp:")
            self = .tcp(host: host, port: port)
        } else if text.hasPrefix("tls:") {
            let (host, port) = try Self.place(in: text, after: "tls:")
            self = .tls(host: host, port: port)
        } else if text.hasPrefix("fd:") {
            let digits = text.dropFirst("fd:".count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(digits)
            else { throw .invalidAddress(text: text, reason: "a descriptor's number must follow, for example fd:3") }
            if number < 3 {
                throw .invalidAddress(text: text, reason: "0, 1 and 2 are the standard streams; the least is fd:3")
            }
            self = .descriptor(number)
        } else {
            throw .invalidAddress(text: text, reason: "write unix:PATH, tcp:HOST:PORT, tls:HOST:PORT or fd:NUMBER")
        }
    }

    /// The socket where a host of this user listens by default. Looks for folders, but changes nothing.
    public static func standard(environment: SocketFolder.Environment = .current) -> LinkAddress {
        .unix(path: SocketFolder(environment: environment).path + "/link.sock")
    }

    private static func place(
        in text: String, after scheme: String
    ) throws(SocketError) -> (host: String, port: UInt16) {
        let rest = text.dropFirst(scheme.count)
        let colon = rest.lastIndex(of: ":")
        let digits = colon.map { rest[rest.index(after: $0)...] } ?? rest
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            throw .invalidAddress(
                text: text, reason: "it ends with a port of 0 to 65535, for example \(scheme)127.0.0.1:7300")
        }
        guard let colon else { return ("127.0.0.1", port) }
        var host = String(rest[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw .invalidAddress(
                text: text, reason: "an IPv6 address stands in brackets, for example \(scheme)[::1]:7300")
        }
        guard !host.isEmpty, host.utf8.count <= maxName, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .invalidAddress(
                text: text, reason: "a name or an address stands before the port, for example \(scheme)[::1]:7300")
        }
        return (host, port)
    }

    /// The maximum length of a DNS name in bytes (RFC 1035, section 2.3.4).
    private static let maxName = 255

    /// The host and port of an address that is reached over TCP, encrypted or not; nil for other addresses.
    public var network: (host: String, port: UInt16)? {
        switch self {
        case .tcp(let host, let port), .tls(let host, let port): (host, port)
        case .unix, .descriptor: nil
        }
    }

    /// Whether captures connect over TCP: to a port, or to a socket that was passed on and listens on one.
    public var isOverTCP: Bool {
        if case .descriptor(let number) = self { return PassedListener(number)?.network != nil }
        return network != nil
    }

    public var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): "tcp:" + Self.text(host, port)
        case .tls(let host, let port): "tls:" + Self.text(host, port)
        case .descriptor(let number): "fd:\(number)"
        }
    }

    private static func text(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
