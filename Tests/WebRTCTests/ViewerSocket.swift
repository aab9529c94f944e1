import Glibc
import STUN
import TestSupport

@testable import WebRTC

/// What a viewer sends and gets its datagrams over. Nothing blocks.
protocol ViewerSocket: AnyObject {
    func send(_ datagram: [UInt8])
    /// The next datagram that has come, if there is one.
    func receive() -> [UInt8]?
}

/// A UDP socket.
final class DatagramSocket: ViewerSocket {
    private let socket: UDPSocket
    private let path: NetworkPath
    private var buffer = [UInt8](repeating: 0, count: 2048)

    init(to address: TransportAddress) throws {
        path = NetworkPath(
            peer: address,
            local: TransportAddress(family: address.family, high: address.high, low: address.low, port: 0))
        socket = try UDPSocket(bindingTo: path.local)
    }

    var port: UInt16? { socket.localAddress?.port }

    func send(_ datagram: [UInt8]) {
        _ = socket.send(datagram, along: path)
    }

    func receive() -> [UInt8]? {
        socket.receive(into: &buffer).map { Array(buffer.prefix($0.count)) }
    }
}

/// A TCP connection to a port of 127.0.0.1, with each datagram behind its length.
final class StreamSocket: ViewerSocket {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var unsent: [UInt8] = []
    /// Whether the server has closed the connection.
    private(set) var isClosed = false

    /// Connects. `from` is the client's port if it isn't 0, and 127.0.0.`host` its address; `buffer` is the room for
    /// what isn't read, in bytes.
    init(to port: UInt16, from own: UInt16 = 0, at host: UInt8 = 1, buffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var room = buffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
        }
        if own != 0 || host != 1 {
            guard Self.call(bind, descriptor, own, at: host) else { throw FileError(path: "port \(own)", errno: errno) }
        }
        guard Self.call(connect, descriptor, port) else { throw FileError(path: "port \(port)", errno: errno) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(descriptor)
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32, _ port: UInt16,
        at host: UInt8 = 1
    ) -> Bool {
        var address = loopbackAddress(port: port)
        address.sin_addr.s_addr = (127 << 24 | UInt32(host)).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    func send(_ datagram: [UInt8]) {
        write([UInt8(datagram.count >> 8), UInt8(datagram.count & 0xFF)] + datagram)
    }

    /// Sends these bytes, as far as there is room; the rest with the next ones.
    func write(_ bytes: [UInt8]) {
        unsent += bytes
        let count = unsent.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count > 0 { unsent.removeFirst(count) }
    }

    func receive() -> [UInt8]? {
        read()
        guard received.count >= 2 else { return nil }
        let length = Int(received[0]) << 8 | Int(received[1])
        guard received.count >= 2 + length else { return nil }
        defer { received.removeFirst(2 + length) }
        return Array(received[2..<2 + length])
    }

    /// Takes what has come, and notes whether the server has closed the connection.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isClosed {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { return }
            if count <= 0 { isClosed = true } else { received += buffer.prefix(count) }
        }
    }

    /// Closes the connection, as far as the server sees.
    func end() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
