import Glibc
import TestSupport

/// A UDP socket that sends to one port of this machine. What is sent over loopback is there at once.
final class LocalSocket {
    private let descriptor: Int32

    init(to port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let (fd, length) = (descriptor, socklen_t(MemoryLayout<sockaddr_in>.size))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, length) == 0 }
        }
        guard isConnected else { throw FileError(path: "connect", errno: errno) }
    }

    deinit { close(descriptor) }

    func send(_ datagram: [UInt8]) { _ = Glibc.send(descriptor, datagram, datagram.count, 0) }

    var hasReceived: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // An error says that the port is closed to this socket.
        return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLIN) != 0
            && waiting.revents & Int16(POLLERR) == 0
    }
}
