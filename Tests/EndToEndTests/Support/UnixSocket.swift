import CLinux
import Glibc
import TestSupport

/// A connected Unix socket, or one that listens, without any of our own transport code: the other end of a link.
///
/// One thread at a time. Closed with the last reference.
final class UnixSocket {
    private var descriptor: Int32

    /// Takes over a connected socket.
    init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    /// Listens at `path`.
    static func listening(at path: String) throws -> UnixSocket {
        try make(path) { bind($0, $1, $2) == 0 && listen($0, 4) == 0 }
    }

    /// Connects to the listener at `path`.
    static func connected(to path: String) throws -> UnixSocket {
        try make(path) { connect($0, $1, $2) == 0 }
    }

    private static func make(
        _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) throws -> UnixSocket {
        let socket = UnixSocket(
            owning: Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isDone = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if !isDone { throw SocketError(what: path, errno: errno) }
        return socket
    }

    /// Accepts the next connection.
    func accepted() throws -> UnixSocket {
        try eventually("a connection") {
            guard isReadable else { return nil }
            return UnixSocket(owning: accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue)))
        }
    }

    /// Writes all of `bytes`; a peer that has gone is an error.
    func send(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SocketError(what: "the link", errno: errno) }
            written += count
        }
    }

    /// Returns what has arrived; empty if nothing has, nil at the end.
    func receive() throws -> [UInt8]? {
        guard isReadable else { return [] }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SocketError(what: "the link", errno: errno) }
        return count == 0 ? nil : Array(buffer.prefix(count))
    }

    /// Closes it. Idempotent.
    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private var isReadable: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) > 0
    }
}

/// The error of a test's socket that could not be used.
struct SocketError: Error, CustomStringConvertible {
    let what: String
    let errno: Int32
    var description: String { "\(what): \(String(cString: strerror(errno)))" }
}
