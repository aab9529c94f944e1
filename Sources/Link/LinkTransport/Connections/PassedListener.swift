import Glibc

/// A listening socket that another process, such as systemd, has bound and passed on to this one.
public struct PassedListener: Sendable {
    private let address: NetworkAddress?

    /// Looks at a descriptor, whose owner doesn't change. Nil if it isn't a socket that listens.
    public init?(_ descriptor: Int32) {
        var listens: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0, listens != 0 else {
            return nil
        }
        address = NetworkAddress(of: descriptor) { getsockname($0, $1, $2) }
    }

    /// The numeric address, without brackets, and the port; nil for a Unix socket.
    public var network: (host: String, port: UInt16)? {
        guard let address else { return nil }
        return (address.host, address.port)
    }

    /// Whether only this machine can reach it.
    var isLocal: Bool { address?.isLoopback ?? true }
}
