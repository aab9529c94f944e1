import CLinux
import Glibc
import MediaTypes
public import STUN

/// The UDP socket that all peers share. It is non-blocking, and each datagram is sent from the local address that its
/// peer knows.
///
/// Closed on destruction. Any thread may send and receive.
package struct UDPSocket: ~Copyable, Sendable {
    package let descriptor: Int32
    private let family: Int32
    /// Whether the kernel divides what it is given into datagrams (UDP GSO).
    package let canSegment: Bool

    /// Binds the socket to `address`. The IPv6 wildcard also receives IPv4. If the kernel has no IPv6, the socket is
    /// bound to the IPv4 wildcard instead.
    package init(bindingTo address: TransportAddress) throws(WebRTCError) {
        var local = shim_endpoint(address)
        var family = address.family == .ipv6 ? AF_INET6 : AF_INET
        var bound = shim_udp_socket(family, &local)
        if bound < 0, errno == EAFNOSUPPORT, family == AF_INET6 {
            family = AF_INET
            local = shim_endpoint(TransportAddress(ipv4: 0, 0, 0, 0, port: address.port))
            bound = shim_udp_socket(family, &local)
        }
        if bound < 0 {
            let number = errno
            throw .cannotBind(address, errorNumber: number, reason: String(cString: strerror(number)))
        }
        descriptor = bound
        self.family = family
        canSegment = shim_udp_can_segment(bound) != 0
    }

    deinit {
        close(descriptor)
    }

    /// The address that the socket is bound to, with the port that the kernel chose if 0 was requested.
    package var localAddress: TransportAddress? { TransportAddress(localEndOf: descriptor) }

    /// A received datagram's length in bytes, its two endpoints, and its arrival.
    package struct Received {
        package var count: Int
        package var path: NetworkPath
        /// When the kernel received it, since 1970 by CLOCK_REALTIME; in the distant future if that is unknown.
        var arrival: Interval
    }

    /// Receives one datagram into `buffer`; nil if none is waiting.
    package func receive(into buffer: inout [UInt8]) -> Received? {
        var peer = shim_endpoint()
        var local = shim_endpoint()
        var arrival: Int64 = 0
        while true {
            let count = buffer.withUnsafeMutableBytes {
                shim_udp_receive(descriptor, $0.baseAddress, $0.count, &peer, &local, &arrival)
            }
            if count < 0 {
                // An ICMP port-unreachable error (ECONNREFUSED) says nothing about the next datagram.
                if errno == EINTR || errno == ECONNREFUSED { continue }
                return nil
            }
            return Received(
                count: count, path: NetworkPath(peer: TransportAddress(peer), local: TransportAddress(local)),
                arrival: Interval(nanoseconds: arrival))
        }
    }

    /// Sends `datagram` along `path`.
    ///
    /// - Returns: false if the socket has no room now; `poll` reports when it has. Every other failure counts as loss
    ///   on the path.
    package func send(_ datagram: [UInt8], along path: NetworkPath) -> Bool { send(datagram[...], along: path) }

    /// Sends `datagram` along `path`, as the method for an array does.
    package func send(_ datagram: ArraySlice<UInt8>, along path: NetworkPath) -> Bool {
        let number = datagram.withUnsafeBytes { send($0, segment: 0, along: path) }
        return number != EAGAIN
    }

    /// What became of several datagrams.
    package enum SegmentedResult {
        /// They were sent, or are lost on the path.
        case done
        /// The socket has no room now for any of them; `poll` reports when it has.
        case noRoom
        /// None was sent: they can't be sent together, perhaps because they are longer than the path allows, or never
        /// in the way that this path leads (`isForever`).
        case unsupported(isForever: Bool)
    }

    /// Sends `bytes` along `path` as datagrams of `segment` bytes, of which the last one may be shorter. Only if
    /// ``canSegment``.
    package func send(_ bytes: [UInt8], inSegmentsOf segment: Int, along path: NetworkPath) -> SegmentedResult {
        switch bytes.withUnsafeBytes({ send($0, segment: UInt16(segment), along: path) }) {
        case EAGAIN: .noRoom
        // A route through IPsec, or a network interface that computes no checksums (udp(7)).
        case EIO: .unsupported(isForever: true)
        case EINVAL, EMSGSIZE, EOPNOTSUPP: .unsupported(isForever: false)
        default: .done
        }
    }

    /// Sends bytes, in datagrams of `segment` bytes if that isn't 0. Returns 0 or the error's number.
    private func send(_ bytes: UnsafeRawBufferPointer, segment: UInt16, along path: NetworkPath) -> Int32 {
        var peer = shim_endpoint(path.peer)
        var local = shim_endpoint(path.local)
        while true {
            if shim_udp_send(descriptor, family, bytes.baseAddress, bytes.count, segment, &peer, &local) >= 0 {
                return 0
            }
            if errno != EINTR { return errno }
        }
    }
}

/// The UDP socket of all media threads; closed once the last of them has released it.
final class SharedUDPSocket: Sendable {
    let udp: UDPSocket

    init(_ udp: consuming UDPSocket) {
        self.udp = udp
    }
}

/// The two endpoints of a datagram.
public struct NetworkPath: Hashable, Sendable {
    /// The peer's address and port.
    public var peer: TransportAddress
    /// Our address on this path; its port is the socket's.
    public var local: TransportAddress

    /// Creates the path between `local` and `peer`.
    public init(peer: TransportAddress, local: TransportAddress) {
        self.peer = peer
        self.local = local
    }
}

extension shim_endpoint {
    init(_ transportAddress: TransportAddress) {
        self.init()
        is_ipv6 = transportAddress.family == .ipv6 ? 1 : 0
        port = transportAddress.port
        scope = transportAddress.scope
        withUnsafeMutableBytes(of: &address) { bytes in
            switch transportAddress.family {
            case .ipv4:
                bytes.storeBytes(of: UInt32(truncatingIfNeeded: transportAddress.low).bigEndian, as: UInt32.self)
            case .ipv6:
                bytes.storeBytes(of: transportAddress.high.bigEndian, as: UInt64.self)
                bytes.storeBytes(of: transportAddress.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
        }
    }
}

extension TransportAddress {
    /// The address that a socket is bound to; nil if it isn't an IP socket.
    package init?(localEndOf descriptor: Int32) { self.init(socketEnd: descriptor, isPeer: false) }

    /// The address of a socket's peer; nil if it isn't an IP socket, or isn't connected any more.
    package init?(peerOf descriptor: Int32) { self.init(socketEnd: descriptor, isPeer: true) }

    private init?(socketEnd descriptor: Int32, isPeer: Bool) {
        var end = shim_endpoint()
        guard shim_socket_end(descriptor, isPeer ? 1 : 0, &end) == 0 else { return nil }
        self.init(end)
    }

    init(_ endpoint: shim_endpoint) {
        self = withUnsafeBytes(of: endpoint.address) { bytes in
            if endpoint.is_ipv6 == 0 {
                let low = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
                return TransportAddress(family: .ipv4, high: 0, low: UInt64(low), port: endpoint.port)
            }
            return TransportAddress(
                family: .ipv6, high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                port: endpoint.port, scope: endpoint.scope)
        }
    }
}
