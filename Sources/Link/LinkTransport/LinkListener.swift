import CLinux
import Glibc

/// A Unix socket that takes connections from captures of this user, or a TCP port that takes them from whoever may come.
///
/// Not thread-safe: one thread polls `descriptor` and calls `accept`. `close` is explicit, idempotent, and also done
/// when the listener goes.
public final class LinkListener {
    /// Where it listens; of a TCP port the one that it really is.
    public let address: LinkAddress
    private var socket: FileDescriptor?
    private let file: FileStatus?
    /// Connections that wait to be accepted: a flood of others shall not keep a capture from getting in line.
    private static let backlog: Int32 = 128

    /// Listens at `address`, which is a path or a TCP port, of `LinkAddress`.
    ///
    /// - Parameter hasToken: whether captures have to show one: without it only this machine's own addresses are listened at.
    public convenience init(
        at address: LinkAddress, hasToken: Bool = false
    ) throws(LinkTransportError) {
        switch address {
        case .unix(let path): try self.init(path: path)
        case .tcp(let host, let port): try self.init(host: host, port: port, hasToken: hasToken)
        case .descriptor:
            throw .invalidAddress(text: "\(address)", reason: "a socket that was handed down is connected already")
        }
    }

    /// Listens on the first address that `host` has; waits for the system to tell it.
    private init(host: String, port: UInt16, hasToken: Bool) throws(LinkTransportError) {
        let asked = LinkAddress.tcp(host: host, port: port)
        let found = try NetworkAddress.resolve(host: host, port: port, isNumeric: false).get()
        guard let place = found.first else {
            throw .nameUnknown(host: host, reason: "it has no IP address", isTemporary: false)
        }
        guard hasToken || place.isLoopback else { throw .tokenRequired(address: "\(asked)") }
        let listening = try place.makeSocket()
        let number = listening.rawValue
        var (on, off): (Int32, Int32) = (1, 0)
        let size = socklen_t(MemoryLayout<Int32>.size)
        // A host that starts again must not wait for the connections of the one before to be forgotten.
        try systemCall("setsockopt(SO_REUSEADDR)") { setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, size) }
        try TCPOptions.boundUnread(listening)
        if place.isIPv6 {
            try systemCall("setsockopt(IPV6_V6ONLY)") {
                setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, size)
            }
        }
        switch retryingInterrupted({ place.withSockaddr { Glibc.bind(number, $0, $1) } }).code {
        case 0: break
        case EADDRINUSE: throw .portTaken(address: "\(asked)")
        case EADDRNOTAVAIL: throw .notOurAddress(address: "\(asked)")
        case EACCES, EPERM: throw .permissionDenied(path: "\(asked)")
        case let code: throw .system(call: "bind", subject: "\(asked)", code: code)
        }
        switch retryingInterrupted({ listen(number, Self.backlog) }).code {
        case 0: break
        case EADDRINUSE: throw .portTaken(address: "\(asked)")
        case let code: throw .system(call: "listen", subject: "\(asked)", code: code)
        }
        let real = NetworkAddress(of: number) { getsockname($0, $1, $2) }
        address = .tcp(host: host, port: real?.port ?? port)
        file = nil
        socket = consume listening
    }

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
        try systemCall("listen", on: path) { listen(number, Self.backlog) }
        self.address = .unix(path: path)
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
        default: throw .system(call: "accept4", subject: "\(address)", code: code)
        }
        let connected = FileDescriptor(owning: accepted)
        guard case .tcp = address else {
            try PeerCredentials(of: connected).check()
            return LinkConnection(adopting: connected)
        }
        let remote = NetworkAddress(of: accepted) { getpeername($0, $1, $2) }
        try TCPOptions.set(connected, end: .host)
        return LinkConnection(adopting: connected, remote: remote?.host ?? "?")
    }

    /// Stops listening; removes the socket file if it is still the one that we made.
    public func close() {
        guard descriptor >= 0 else { return }
        if let file, case .unix(let path) = address, let current = FileStatus(path: path), current.isSameFile(as: file)
        {
            unlink(path)
        }
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
