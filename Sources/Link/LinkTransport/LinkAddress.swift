/// Where capture and host meet: a Unix socket's path, or a connected socket that the parent process hands down.
public enum LinkAddress: Equatable, Sendable, CustomStringConvertible {
    /// `unix:PATH`
    case unix(path: String)
    /// `fd:N`
    case descriptor(Int32)

    /// Reads `unix:PATH` or `fd:N`.
    public init(parsing text: String) throws(LinkTransportError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            if path.isEmpty {
                throw .invalidAddress(text: text, reason: "a path has to follow, as in unix:/run/user/1000/link.sock")
            }
            _ = try SocketAddress(path: path)
            self = .unix(path: path)
        } else if text.hasPrefix("fd:") {
            let digits = text.dropFirst("fd:".count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(digits)
            else { throw .invalidAddress(text: text, reason: "after fd: stands a descriptor's number, as in fd:3") }
            if number < 3 {
                throw .invalidAddress(text: text, reason: "0, 1 and 2 are the standard streams; the least is fd:3")
            }
            self = .descriptor(number)
        } else {
            throw .invalidAddress(text: text, reason: "write unix:PATH or fd:NUMBER")
        }
    }

    /// The socket where a host of this user listens unless told otherwise. Looks folders up, changes nothing.
    public static func standard(environment: SocketFolder.Environment = .current) -> LinkAddress {
        .unix(path: SocketFolder(environment: environment).path + "/link.sock")
    }

    public var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .descriptor(let number): "fd:\(number)"
        }
    }
}
