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
    private let socket: TestSocket
    private var received: [UInt8] = []
    private var unsent: [UInt8] = []
    /// Whether the server has closed the connection.
    var isClosed: Bool { socket.isAtEnd }

    /// Connects. `from` is the client's port if it isn't 0, and 127.0.0.`host` its address; `buffer` is the room for
    /// what isn't read, in bytes.
    init(to port: UInt16, from own: UInt16 = 0, at host: UInt8 = 1, buffer: Int32? = nil) throws {
        socket = try TestSocket(port: port, receiveBuffer: buffer, from: own, at: host)
    }

    func send(_ datagram: [UInt8]) {
        write([UInt8(datagram.count >> 8), UInt8(datagram.count & 0xFF)] + datagram)
    }

    /// Sends these bytes, as far as there is room; the rest with the next ones.
    func write(_ bytes: [UInt8]) {
        unsent += bytes
        let count = unsent.withUnsafeBytes {
            Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
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
    func read() { received += socket.receive() ?? [] }

    /// Closes the connection, as far as the server sees.
    func end() {
        socket.end()
    }
}
