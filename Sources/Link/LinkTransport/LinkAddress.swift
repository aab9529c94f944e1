/// The address at which capture and host meet: the path of a Unix socket, a TCP port, or a connected socket that the
/// parent process passes on.
public enum LinkAddress: Equatable, Sendable, CustomStringConvertible {
    /// `unix:PATH`
    case unix(path: String)
    /// `tcp:HOST:PORT`, where the host is a name or an address without brackets. A listener may use port 0 for any free
    /// port.
    case tcp(host: String, port: UInt16)
    /// `fd:N`
    case descriptor(Int32)

    /// Parses `unix:PATH`, `tcp:HOST:PORT`, `tcp:PORT` (only this machine), or `fd:N`.
    public init(parsing text: String) throws(LinkTransportError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            if path.isEmpty {
                throw .invalidAddress(text: text, reason: "a path has to follow, as in unix:/run/user/1000/link.sock")
            }
            _ = try SocketAddress(path: path)
            self = .unix(path: path)
        } else if text.hasPrefix("tcp:") {
            self = try Self.tcp(parsing: text)
        } else if text.hasPrefix("fd:") {
            let digits = text.dropFirst("fd:".count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(digits)
            else { throw .invalidAddress(text: text, reason: "after fd: stands a descriptor's number, as in fd:3") }
            if number < 3 {
                throw .invalidAddress(text: text, reason: "0, 1 and 2 are the standard streams; the least is fd:3")
            }
            self = .descriptor(number)
        } else {
            throw .invalidAddress(text: text, reason: "write unix:PATH, tcp:HOST:PORT or fd:NUMBER")
        }
    }

    /// The socket where a host of this user listens by default. Looks for folders, but changes nothing.
    public static func standard(environment: SocketFolder.Environment = .current) -> LinkAddress {
        .unix(path: SocketFolder(environment: environment).path + "/link.sock")
    }

    private static func tcp(parsing text: String) throws(LinkTransportError) -> LinkAddress {
        let rest = text.dropFirst("tcp:".count)
        let colon = rest.lastIndex(of: ":")
        let digits = colon.map { rest[rest.index(after: $0)...] } ?? rest
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            throw .invalidAddress(text: text, reason: "it ends with a port of 0 to 65535, as in tcp:127.0.0.1:7300")
        }
        guard let colon else { return .tcp(host: "127.0.0.1", port: port) }
        var host = String(rest[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw .invalidAddress(text: text, reason: "an IPv6 address stands in brackets, as in tcp:[::1]:7300")
        }
        guard !host.isEmpty, host.utf8.count <= longestName, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw .invalidAddress(
                text: text, reason: "a name or an address stands before the port, as in tcp:[::1]:7300")
        }
        return .tcp(host: host, port: port)
    }

    /// The maximum length of a DNS name in bytes (RFC 1035, section 2.3.4).
    private static let longestName = 255

    /// The host of a TCP address; empty for other addresses.
    var hostName: String {
        if case .tcp(let host, _) = self { host } else { "" }
    }

    public var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .descriptor(let number): "fd:\(number)"
        }
    }
}
