import Glibc
import TestSupport

/// A socket that sends exactly the given bytes to a program of this machine.
final class RawSocket {
    let descriptor: Int32
    /// The port that it is bound to, if it occupies one.
    private(set) var port: UInt16 = 0

    /// The transport of a socket.
    enum Kind {
        case udp, tcp
    }

    private init(_ domain: Int32, _ kind: Kind) throws {
        let type = kind == .udp ? SOCK_DGRAM : SOCK_STREAM
        descriptor = socket(domain, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketError(what: "socket", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Returns a socket that is connected to a Unix socket's path.
    static func connected(toPath path: String) throws -> RawSocket {
        let socket = try RawSocket(AF_UNIX, .tcp)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SocketError(what: path, errno: errno) }
        return try socket.unblocked()
    }

    /// Returns a socket that is connected to a port of 127.0.0.1; a UDP socket sends there.
    static func connected(to port: UInt16, _ kind: Kind) throws -> RawSocket {
        let socket = try RawSocket(AF_INET, kind)
        let result = withLoopback(port) { connect(socket.descriptor, $0, $1) }
        guard result == 0 else { throw SocketError(what: "127.0.0.1:\(port)", errno: errno) }
        return try socket.unblocked()
    }

    /// Returns a socket that is bound to a port of 127.0.0.1 that was free.
    static func occupying(_ kind: Kind) throws -> RawSocket {
        let socket = try RawSocket(AF_INET, kind)
        let port = try bindToLoopback(socket.descriptor)
        guard kind == .udp || listen(socket.descriptor, 4) == 0 else {
            throw SocketError(what: "127.0.0.1:\(port)", errno: errno)
        }
        socket.port = port
        return socket
    }

    private static func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func unblocked() throws -> RawSocket {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw SocketError(what: "fcntl", errno: errno) }
        return self
    }

    /// Sends all of `bytes`; returns false if the peer ends the connection before that.
    @discardableResult
    func send(_ bytes: [UInt8]) throws -> Bool {
        var sent = 0
        return try eventually("room to send") {
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0, errno == EAGAIN || errno == EINTR { return nil }
                if count < 0 { return false }
                sent += count
            }
            return true
        }
    }

    @discardableResult
    func send(_ text: String) throws -> Bool { try send(Array(text.utf8)) }

    /// Reads until the peer ends the connection, which it has to do soon.
    @discardableResult
    func readToEnd(_ what: String) throws -> [UInt8] {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        return try eventually("the end of the connection after \(what)") {
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EAGAIN || errno == EINTR { return nil }
                // 0 is an end, an error is a reset: both will do.
                if count <= 0 { return received }
                received += buffer[..<count]
            }
        }
    }

    /// Whether the peer has ended the connection; what it sent before is dropped.
    var hasEnded: Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return count == 0 || errno != EAGAIN && errno != EINTR }
        }
    }

    /// Whether the peer has neither ended the connection nor sent anything so far.
    var isSilent: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) < 0 && errno == EAGAIN
    }
}

/// Returns how many descriptors a process has open.
func openDescriptors(of process: Int32) throws -> Int {
    let folder = "/proc/\(process)/fd"
    guard let directory = opendir(folder) else { throw SocketError(what: folder, errno: errno) }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    // Without "." and "..".
    return count - 2
}

/// Returns the processor time that a process has used so far, in hundredths of a second (proc(5), /proc/PID/stat).
func processorTicks(of process: Int32) throws -> Int {
    let text = String(decoding: try fileBytes("/proc/\(process)/stat"), as: UTF8.self)
    // After the name, which may contain any character, come fields 3 and on; user and system time are 14 and 15.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
}
