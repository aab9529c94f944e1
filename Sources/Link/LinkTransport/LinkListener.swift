import CLinux
import Glibc

/// A Unix socket that takes connections from captures of this user.
///
/// Not thread-safe: one thread polls `descriptor` and calls `accept`. `close` is explicit, idempotent, and also done
/// when the listener goes.
public final class LinkListener {
    /// Where it listens.
    public let path: String
    private var socket: FileDescriptor?
    private let file: FileStatus?

    /// Listens on `path`, whose folder must exist; the socket file gets mode 0600 before anybody can connect.
    ///
    /// A socket file that a dead process left behind is replaced; a live one is `alreadyListening`.
    public init(path: String) throws(LinkTransportError) {
        let address = try SocketAddress(path: path)
        let listening = try SocketAddress.makeSocket()
        // Two hosts that start at once must not each take the other's new socket for a dead one's.
        let lock = try FolderLock(folder: address.folder)
        defer { lock.release() }
        // Linux gives the socket file the mode of the unbound socket: right from the start, and without touching
        // the umask that all threads share.
        let number = listening.rawValue
        try systemCall("fchmod", on: path) { fchmod(number, 0o600) }
        try Self.bind(listening, to: address)
        try systemCall("listen", on: path) { listen(number, 16) }
        self.path = path
        file = FileStatus(path: path)
        socket = consume listening
    }

    deinit {
        close()
    }

    /// For poll(2): readable when a connection waits. -1 after `close`.
    public var descriptor: Int32 {
        switch socket {
        case .some(let open): open.rawValue
        case .none: -1
        }
    }

    /// Takes the next connection that waits; nil when there is none.
    ///
    /// - Throws: `foreignPeer` where another user connected: that connection is closed, and the listener goes on.
    public func accept() throws(LinkTransportError) -> LinkConnection? {
        let number = descriptor
        if number < 0 { throw .closed }
        let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let (accepted, code) = retryingInterrupted { accept4(number, nil, nil, flags) }
        switch code {
        case 0: break
        case EAGAIN, EWOULDBLOCK, ECONNABORTED: return nil
        default: throw .system(call: "accept4", subject: path, code: code)
        }
        let connected = FileDescriptor(owning: accepted)
        try PeerCredentials(of: connected).check()
        return LinkConnection(adopting: connected)
    }

    /// Stops listening; removes the socket file if it is still the one that we made.
    public func close() {
        guard descriptor >= 0 else { return }
        if let file, let current = FileStatus(path: path), current.isSameFile(as: file) { unlink(path) }
        socket = nil
    }

    private static func bind(
        _ listening: borrowing FileDescriptor, to address: SocketAddress
    ) throws(LinkTransportError) {
        let number = listening.rawValue
        func attempt() -> Int32 {
            retryingInterrupted { address.withSockaddr { Glibc.bind(number, $0, $1) } }.code
        }
        var code = attempt()
        if code == EADDRINUSE {
            try removeIfDead(address)
            code = attempt()
        }
        switch code {
        case 0: return
        case EADDRINUSE: throw .alreadyListening(path: address.path)
        case ENOENT, ENOTDIR: throw .folderMissing(folder: address.folder)
        case EACCES, EPERM, EROFS: throw .permissionDenied(path: address.path)
        default: throw .system(call: "bind", subject: address.path, code: code)
        }
    }

    /// Removes a socket file that nobody listens on any more.
    private static func removeIfDead(_ address: SocketAddress) throws(LinkTransportError) {
        guard let status = FileStatus(path: address.path) else { return }
        if !status.isSocket { throw .notASocket(path: address.path) }
        let probe = try SocketAddress.makeSocket()
        let number = probe.rawValue
        let (_, code) = retryingInterrupted { address.withSockaddr { Glibc.connect(number, $0, $1) } }
        switch code {
        case ECONNREFUSED: unlink(address.path)
        case ENOENT: return
        case EACCES, EPERM: throw .permissionDenied(path: address.path)
        // Connected, or its backlog is full: either way somebody is there.
        default: throw .alreadyListening(path: address.path)
        }
    }
}

/// An advisory lock on a folder (flock(2)); where the folder can't be opened for reading there is none.
private struct FolderLock {
    /// Two hosts need it for a moment each. Whoever may read the folder can hold it for good: not waited for longer.
    private static let attempts = 50
    private static let pause: UInt32 = 20_000

    private let number: Int32

    init(folder: String) throws(LinkTransportError) {
        let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.number = number
        if number < 0 { return }
        for _ in 0..<Self.attempts {
            let (_, code) = retryingInterrupted { flock(number, LOCK_EX | LOCK_NB) }
            // Any other error: a file system without locks.
            if code != EWOULDBLOCK { return }
            usleep(Self.pause)
        }
        Glibc.close(number)
        throw .folderLocked(folder: folder)
    }

    func release() {
        if number >= 0 { Glibc.close(number) }
    }
}
