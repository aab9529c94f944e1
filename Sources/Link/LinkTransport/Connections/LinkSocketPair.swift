import CLinux
import Glibc

/// Two connected sockets: one end for this process, and one for a child process.
///
/// Neither end survives exec by itself. The parent puts `childDescriptor` in place with dup2(2), whose copy has no
/// `FD_CLOEXEC`, and then calls `closeChild`; otherwise its own end would never detect the child's death.
public final class LinkSocketPair {
    /// This process's end, which is non-blocking.
    public let connection: SocketConnection
    private var child: FileDescriptor?

    /// Creates a connected pair. At most `limit` bytes wait at this process's end for the child. Throws `system` if no
    /// descriptor is left.
    public init(limit: Int = SocketConnection.standardLimit) throws(SocketError) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &numbers) }
        connection = SocketConnection(adopting: FileDescriptor(owning: numbers[0]), limit: limit)
        child = FileDescriptor(owning: numbers[1])
    }

    /// The child's end, which this object closes; -1 after `closeChild`.
    public var childDescriptor: Int32 { child?.rawValue ?? -1 }

    /// Closes this process's copy of the child's end.
    public func closeChild() {
        child = nil
    }
}
