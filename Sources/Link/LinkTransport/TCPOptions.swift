import CLinux
import Glibc

/// What a TCP connection of the link is set to: no waiting for more bytes, no more of them in the kernel than are under way, and an
/// end in bounded time to a peer that has vanished.
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

    /// Bytes that capture's kernel takes before it has sent them, give or take a segment of 64 KiB. Left to itself it takes 4 MiB
    /// (tcp_wmem): seconds of old pictures, to a network that is slow. Less would cost throughput: it says that there is room
    /// when half of this is sent.
    private static let unsent: Int32 = 64 << 10

    /// Bytes that come to a host that doesn't read. Left to itself the kernel goes up to 6 MiB and more (tcp_rmem) of pictures
    /// that are old by the time. What is under way has to fit in: 50 Mbit/s over 100 ms are 625 kB. The kernel doubles the
    /// number for what it needs itself, and tells the peer at least of the half.
    private static let unread: Int32 = 640 << 10

    /// For a socket that will listen: those that it accepts have it from their first byte on, which also the scale of
    /// their window depends on (tcp(7)). The system's net.core.rmem_max may make it less.
    static func boundUnread(_ listening: borrowing FileDescriptor) throws(LinkTransportError) {
        try set(listening.rawValue, SOL_SOCKET, SO_RCVBUF, unread, "SO_RCVBUF")
    }

    static func set(_ socket: borrowing FileDescriptor, end: End) throws(LinkTransportError) {
        let number = socket.rawValue
        let tcp = Int32(IPPROTO_TCP)
        try set(number, tcp, shim_TCP_NODELAY, 1, "TCP_NODELAY")
        try set(number, SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE")
        try set(number, tcp, shim_TCP_KEEPIDLE, idle, "TCP_KEEPIDLE")
        try set(number, tcp, shim_TCP_KEEPINTVL, idle, "TCP_KEEPINTVL")
        // Also for what keep-alive finds: it takes the place of TCP_KEEPCNT (tcp(7)).
        try set(number, tcp, shim_TCP_USER_TIMEOUT, end.patience, "TCP_USER_TIMEOUT")
        if end == .capture { try set(number, tcp, shim_TCP_NOTSENT_LOWAT, unsent, "TCP_NOTSENT_LOWAT") }
    }

    private static func set(
        _ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32, _ what: String
    ) throws(LinkTransportError) {
        var value = value
        try systemCall("setsockopt(\(what))") {
            setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
