import Glibc

/// An open file descriptor with one owner. It is closed when its owner is released.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number that system calls take. Don't close it, and don't keep it longer than this value lives.
    public let rawValue: Int32

    /// Takes ownership of `rawValue`, and closes it at the end.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        // Not repeated after EINTR, because on Linux the descriptor is released even then and may already be in use
        // elsewhere.
        Glibc.close(rawValue)
    }

    /// Transfers the open descriptor to the caller, who has to close it.
    public consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

/// Sets `O_NONBLOCK` and `FD_CLOEXEC` on a descriptor that this process didn't open itself.
func makeNonBlocking(_ descriptor: borrowing FileDescriptor) throws(SocketError) {
    let number = descriptor.rawValue
    let flags = try systemCall("fcntl(F_GETFL)") { fcntl(number, F_GETFL) }
    try systemCall("fcntl(F_SETFL)") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    try systemCall("fcntl(F_SETFD)") { fcntl(number, F_SETFD, FD_CLOEXEC) }
}
