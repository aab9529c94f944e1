import Glibc

/// A service manager's socket for news of a service (sd_notify(3)).
public final class NotificationSocket {
    /// The value of `$NOTIFY_SOCKET`.
    public let path: String
    private let descriptor: Int32
    private let folder: TemporaryFolder

    /// Makes the socket: a file in a folder of its own, or one with an abstract name.
    public init(isAbstract: Bool = false) throws {
        folder = try TemporaryFolder()
        path = (isAbstract ? "@" : "") + folder.file("notify")
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw FileError(path: "socket", errno: errno) }
        var name = Array(path.utf8)
        if isAbstract { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw FileError(path: path, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Returns the next message; nil if none has arrived.
    public func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Waits for the next message that isn't a watchdog's.
    public func news() throws -> String {
        try eventually("news for the service manager") {
            while let message = next() {
                if message != "WATCHDOG=1" { return message }
            }
            return nil
        }
    }
}
