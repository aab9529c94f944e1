import CLinux
import Glibc

/// Two connected sockets: one end for us, one to hand down to a child process.
///
/// Neither survives exec by itself: who starts the child puts `childDescriptor` in place with dup2(2), whose copy has no
/// `FD_CLOEXEC`, and then calls `closeChild`, or our end would never see the child's death.
public final class LinkSocketPair {
    /// Our end, non-blocking.
    public let connection: LinkConnection
    private var child: FileDescriptor?

    /// A new connected pair; at most `limit` bytes wait at our end for the child.
    public init(limit: Int = LinkConnection.standardLimit) throws(LinkTransportError) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &numbers) }
        connection = LinkConnection(adopting: FileDescriptor(owning: numbers[0]), limit: limit)
        child = FileDescriptor(owning: numbers[1])
    }

    /// The child's end, ours to close; -1 after `closeChild`.
    public var childDescriptor: Int32 {
        switch child {
        case .some(let open): open.rawValue
        case .none: -1
        }
    }

    /// Closes our copy of the child's end.
    public func closeChild() {
        child = nil
    }
}
