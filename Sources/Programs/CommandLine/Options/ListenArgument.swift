import Glibc
import Threading

/// Where a server listens: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or only a port.
public struct ListenArgument: Equatable, Sendable, CustomStringConvertible {
    /// The numeric address without brackets, or nil if the user gave only a port and the program chooses.
    public var host: String?
    /// The port; 0 for any free port.
    public var port: UInt16

    /// An address with these properties.
    public init(host: String?, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Whether it is an IPv6 address.
    public var isIPv6: Bool { host?.contains(":") ?? false }
    /// Whether only processes on this machine can reach it. False if only a port was given.
    public var isLoopback: Bool { host.map { Loopback.contains($0) } ?? false }

    public var description: String {
        guard let host else { return ":\(port)" }
        return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ValueFormat where Value == ListenArgument {
    /// An address and a port, or only a port (`8080`, `:8080`); `localhost` means 127.0.0.1.
    public static var listenAddress: ValueFormat<ListenArgument> { listenAddress(example: 8080) }

    /// An address and a port, or only a port, for an option with another usual port, which its error's examples show.
    public static func listenAddress(example: UInt16) -> ValueFormat<ListenArgument> {
        let examples = "127.0.0.1:\(example), [::1]:\(example) or \(example)"
        return ValueFormat(orProblem: "not an address to listen on; write it like \(examples)") { text in
            let host: String
            let portText: String
            if let colon = text.lastIndex(of: ":") {
                host = String(text[..<colon])
                portText = String(text[text.index(after: colon)...])
            } else {
                host = ""
                portText = text
            }
            guard let number = decimalInteger(portText), let port = UInt16(exactly: number) else { return nil }
            if host.isEmpty { return ListenArgument(host: nil, port: port) }
            if host == "localhost" { return ListenArgument(host: "127.0.0.1", port: port) }
            if host.hasPrefix("["), host.hasSuffix("]") {
                let inner = String(host.dropFirst().dropLast())
                guard isNumericAddress(inner, family: AF_INET6) else { return nil }
                return ListenArgument(host: inner, port: port)
            }
            guard isNumericAddress(host, family: AF_INET) else { return nil }
            return ListenArgument(host: host, port: port)
        }
    }
}

/// Whether inet_pton(3) accepts the text.
private func isNumericAddress(_ text: String, family: Int32) -> Bool {
    var address = in6_addr()
    return inet_pton(family, text, &address) == 1
}
