import Glibc

/// An open file descriptor with one owner; it is closed when its owner goes.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number that system calls take. Don't close it, and don't keep it longer than this value lives.
    public let rawValue: Int32

    /// Takes `rawValue` over: from now on this value closes it.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        // Not repeated after EINTR: on Linux the number is free even then, and may be someone else's by now.
        Glibc.close(rawValue)
    }

    /// Gives the open descriptor up to the caller, who has to close it.
    public consuming func release() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

/// Sets `O_NONBLOCK` and `FD_CLOEXEC` on a descriptor that we didn't open ourselves.
func makeNonBlocking(_ descriptor: borrowing FileDescriptor) throws(LinkTransportError) {
    let number = descriptor.rawValue
    let flags = try systemCall("fcntl(F_GETFL)") { fcntl(number, F_GETFL) }
    try systemCall("fcntl(F_SETFL)") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    try systemCall("fcntl(F_SETFD)") { fcntl(number, F_SETFD, FD_CLOEXEC) }
}
