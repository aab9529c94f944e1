import CLinux
import Glibc

/// A Unix socket's path as `sockaddr_un` (unix(7)).
struct SocketAddress {
    /// `sun_path` has 108 bytes, one of which is for the NUL at the end.
    static let maxPath = 107

    let path: String
    private var storage = sockaddr_un()

    /// Checks only the path's length and characters; doesn't access the file system.
    init(path: String) throws(SocketError) {
        let bytes = Array(path.utf8)
        if bytes.isEmpty { throw .invalidAddress(text: path, reason: "the path is empty") }
        if bytes.contains(0) { throw .invalidAddress(text: path, reason: "the path has a NUL byte in it") }
        if bytes.count > Self.maxPath { throw .pathTooLong(path: path, bytes: bytes.count) }
        self.path = path
        storage.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Calls `body` with the address in the form that bind(2) and connect(2) take.
    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The folder that the socket is in.
    var folder: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// A new non-blocking stream socket, which child processes don't inherit.
    static func makeSocket() throws(SocketError) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return FileDescriptor(owning: try systemCall("socket") { socket(AF_UNIX, type, 0) })
    }
}
