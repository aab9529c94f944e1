import CLinux
import Glibc
import STUN
import Synchronization
import Threading

/// The sockets of a media thread: for UDP and, on the TCP port of the same number, for connections.
struct MediaSockets: ~Copyable {
    /// How many UDP ports are tried, if any port will do, until one has a free TCP port.
    private static let attempts = 8

    let datagrams: SharedUDPSocket
    /// Nil if the TCP port can't be used, and for all threads but the first.
    let listener: StreamListener?
    /// Whether some thread has a listener.
    let takesConnections: Bool
    /// The address that the UDP socket is bound to.
    let address: TransportAddress

    /// Binds the sockets. If a named port can only be used for UDP, the log says so once.
    init(_ configuration: MediaServerConfiguration, log: EventLog) throws(WebRTCError) {
        var attempt = 1
        while true {
            let datagrams = try UDPSocket(bindingTo: configuration.bind)
            guard let address = datagrams.localAddress else { throw .system("the UDP socket has no address") }
            let isReserved = configuration.reservedTCPPorts.contains(address.port)
            let isWanted = configuration.takesConnections
            let listener = isReserved || !isWanted ? nil : StreamListener(bindingTo: address)
            let reason = isReserved ? "it serves HTTP" : String(cString: strerror(errno))
            let isLast = configuration.bind.port != 0 || attempt == Self.attempts
            attempt += 1
            if listener == nil, isWanted, !isLast { continue }
            if listener == nil, isWanted {
                log.warning("viewers can't connect over TCP: TCP port \(address.port) can't be used: \(reason)")
            }
            self.datagrams = SharedUDPSocket(datagrams)
            takesConnections = listener != nil
            self.listener = listener
            self.address = address
            return
        }
    }

    /// The sockets of a further thread, which accepts no connections itself.
    init(sharing sockets: borrowing MediaSockets) {
        datagrams = sockets.datagrams
        listener = nil
        takesConnections = sockets.takesConnections
        address = sockets.address
    }
}

/// A TCP socket that takes the connections of peers. Non-blocking.
///
/// Owned by the media thread; closed on destruction.
struct StreamListener: ~Copyable {
    let descriptor: Int32

    /// Listens at `address`; the IPv6 wildcard also takes IPv4. Nil, with the reason in `errno`, if that fails.
    init?(bindingTo address: TransportAddress) {
        var local = shim_endpoint(address)
        descriptor = shim_tcp_listener(address.family == .ipv6 ? AF_INET6 : AF_INET, &local)
        if descriptor < 0 { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Accepts a connection, which the caller owns; -1, with the reason in `errno`, if there is none.
    func accept() -> Int32 { shim_tcp_accept(descriptor, Self.unsentLimit) }

    /// The kernel keeps about so many bytes of a connection without having sent them, so that old pictures don't queue
    /// there.
    private static let unsentLimit: Int32 = 16 << 10
}

/// Hands sockets, which have a single owner, over to a media thread.
final class SocketHandover: Sendable {
    private let sockets: Mutex<MediaSockets?>

    init(_ sockets: consuming MediaSockets) {
        self.sockets = Mutex(sockets)
    }

    func take() -> MediaSockets? {
        sockets.withLock { $0.take() }
    }
}
