import CLinux
import Glibc

/// The socket options of the link's TCP connections: no delay for small writes, little unsent data in the kernel, and a
/// bounded time until a vanished peer is detected.
enum TCPOptions {
    /// The end of the connection that this process is.
    enum End {
        /// The host writes little and often. Data that isn't acknowledged within 15 s never will be.
        case host
        /// A live host may read nothing for up to 60 s. Once its receive window is closed, the kernel can't tell it
        /// from a host that has vanished.
        case capture

        fileprivate var timeout: Int32 { self == .host ? 15_000 : 75_000 }
    }

    /// The number of seconds without traffic after which the peer is probed, and between probes.
    private static let idle: Int32 = 5

    /// The number of bytes that a capture's kernel accepts before it has sent them, give or take a segment of 64 KiB.
    ///
    /// By default the kernel accepts 4 MiB (tcp_wmem), which is seconds of old pictures on a slow network. A lower
    /// value would cost throughput, because the kernel reports room only when half of this has been sent.
    private static let unsent: Int32 = 64 << 10

    /// The size of a host's receive buffer, which fills if the host doesn't read.
    ///
    /// By default the kernel accepts 6 MiB and more (tcp_rmem) of pictures that are outdated by then. The data in
    /// flight has to fit: 50 Mbit/s over 100 ms are 625 kB. The kernel doubles the value for its own overhead, and
    /// advertises at least half of the result.
    private static let unread: Int32 = 640 << 10

    /// Sets the receive buffer of a socket that will listen. Accepted sockets inherit it from their first byte on, and
    /// the scale of their window depends on it too (tcp(7)). The system's net.core.rmem_max may reduce it.
    static func boundUnread(_ listening: borrowing FileDescriptor) throws(SocketError) {
        try set(listening.rawValue, SOL_SOCKET, SO_RCVBUF, unread, "SO_RCVBUF")
    }

    static func set(_ socket: borrowing FileDescriptor, end: End) throws(SocketError) {
        let number = socket.rawValue
        let tcp = Int32(IPPROTO_TCP)
        try set(number, tcp, shim_TCP_NODELAY, 1, "TCP_NODELAY")
        try set(number, SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE")
        try set(number, tcp, shim_TCP_KEEPIDLE, idle, "TCP_KEEPIDLE")
        try set(number, tcp, shim_TCP_KEEPINTVL, idle, "TCP_KEEPINTVL")
        // This also applies to keep-alive probes, where it replaces TCP_KEEPCNT (tcp(7)).
        try set(number, tcp, shim_TCP_USER_TIMEOUT, end.timeout, "TCP_USER_TIMEOUT")
        if end == .capture { try set(number, tcp, shim_TCP_NOTSENT_LOWAT, unsent, "TCP_NOTSENT_LOWAT") }
    }

    private static func set(
        _ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32, _ what: String
    ) throws(SocketError) {
        var value = value
        try systemCall("setsockopt(\(what))") {
            setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
