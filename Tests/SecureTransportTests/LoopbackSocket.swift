import Glibc

/// A UDP socket on 127.0.0.1, for one peer.
final class LoopbackSocket {
    private let descriptor: Int32
    /// Ours.
    let port: UInt16
    private var peer: sockaddr_in?

    /// A socket on any free port; `peerPort` is where to send before anything has come.
    init(peerPort: UInt16? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard result == 0 else { throw SocketError() }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        peer = peerPort.map(Self.loopback)
    }

    deinit {
        close(descriptor)
    }

    /// No socket could be made.
    struct SocketError: Error {}

    /// A datagram that waits, if any; whoever sent it is the peer from now on.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var from = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &from) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), address, &length)
            }
        }
        guard count >= 0 else { return nil }
        peer = from
        return Array(buffer.prefix(count))
    }

    /// Sends to the peer.
    func send(_ datagram: [UInt8]) {
        guard var peer else { return }
        withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(
                    descriptor, datagram, datagram.count, 0, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
