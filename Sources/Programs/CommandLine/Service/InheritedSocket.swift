import Glibc

/// A socket that the service manager passes to this process (sd_listen_fds(3)).
public struct InheritedSocket: Equatable, Sendable {
    /// The name that the unit gives it with `FileDescriptorName=`.
    public let name: String
    /// The socket. This process owns it.
    public let descriptor: Int32

    private static let first: Int32 = 3
    private static let limit: Int32 = 1024

    /// A socket of this name.
    public init(name: String, descriptor: Int32) {
        self.name = name
        self.descriptor = descriptor
    }

    /// The sockets that the environment describes, in order. There are none if the variables are another process's.
    ///
    /// - Throws: ``UsageError`` if the variables contradict each other.
    public static func all(
        environment: (String) -> String? = SettingsFile.variable
    ) throws(UsageError) -> [InheritedSocket] {
        guard environment("LISTEN_PID") == "\(getpid())", let text = environment("LISTEN_FDS") else { return [] }
        guard let count = Int32(text), (0...limit).contains(count) else {
            throw UsageError("LISTEN_FDS=\(printable(text)): not a number of sockets from 0 to \(limit)")
        }
        // What sd_listen_fds_with_names(3) calls them.
        let unnamed = Array(repeating: "unknown", count: Int(count))
        let list = environment("LISTEN_FDNAMES") ?? ""
        let names =
            list.isEmpty
            ? unnamed : list.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard names.count == Int(count) else {
            throw UsageError(
                "LISTEN_FDNAMES=\(printable(list)): has \(counted(names.count, "name")), but LISTEN_FDS=\(count)")
        }
        return zip(names, first...).map { InheritedSocket(name: $0, descriptor: $1) }
    }

    /// Like `all`, which throws the same ``UsageError``, and keeps the sockets and the variables from this process's
    /// children. Call it once, before the program starts a thread.
    public static func take() throws(UsageError) -> [InheritedSocket] {
        let sockets = try all()
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
        for socket in sockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
        return sockets
    }
}
