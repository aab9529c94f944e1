import CLinux
import Glibc

/// What a TCP connection of the link is set to: no waiting for more bytes, and an end in bounded time to a peer that has vanished.
enum TCPOptions {
    /// Which end we are.
    enum End {
        /// Writes little and often: what is not acknowledged for 15 s never will be.
        case host
        /// A host that lives and reads nothing may do so for 60 s. To the kernel it looks as one that has vanished, once its
        /// window is closed.
        case capture

        fileprivate var patience: Int32 { self == .host ? 15_000 : 75_000 }
    }

    /// While nothing is under way the peer is asked after so many seconds, and again at that distance.
    private static let idle: Int32 = 5

    static func set(_ socket: borrowing FileDescriptor, end: End) throws(LinkTransportError) {
        let number = socket.rawValue
        func set(_ level: Int32, _ name: Int32, _ value: Int32, _ what: String) throws(LinkTransportError) {
            var value = value
            try systemCall("setsockopt(\(what))") {
                setsockopt(number, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        let tcp = Int32(IPPROTO_TCP)
        try set(tcp, shim_TCP_NODELAY, 1, "TCP_NODELAY")
        try set(SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE")
        try set(tcp, shim_TCP_KEEPIDLE, idle, "TCP_KEEPIDLE")
        try set(tcp, shim_TCP_KEEPINTVL, idle, "TCP_KEEPINTVL")
        // Also for what keep-alive finds: it takes the place of TCP_KEEPCNT (tcp(7)).
        try set(tcp, shim_TCP_USER_TIMEOUT, end.patience, "TCP_USER_TIMEOUT")
    }
}
