import Glibc
import TestSupport

/// A UDP socket on 127.0.0.1, for one peer.
final class LoopbackSocket {
    private let descriptor: Int32
    /// Ours.
    let port: UInt16
    private var peer: sockaddr_in?

    /// A socket on any free port; `peerPort` is where to send before anything has come.
    init(peerPort: UInt16? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        port = try bindToLoopback(descriptor)
        peer = peerPort.map(loopbackAddress)
    }

    deinit {
        close(descriptor)
    }

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
}
