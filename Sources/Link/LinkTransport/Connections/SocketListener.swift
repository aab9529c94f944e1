import CLinux
import Glibc

/// A Unix socket that accepts connections from captures of this user, or a TCP port that accepts connections from
/// anyone. Either may be passed on by the process that has bound it.
///
/// Not thread-safe: one thread polls `descriptor` and calls `accept`. `close` is explicit and idempotent, and also
/// happens when the listener is released.
public final class SocketListener {
    /// The address at which it listens. For TCP, it has the actual port.
    public let address: LinkAddress
    private var socket: FileDescriptor?
    /// The encryption of accepted connections, if the address is encrypted.
    private let encryption: SocketEncryption?
    private let file: FileStatus?
    /// The number of connections that may wait to be accepted. It is large, so that a flood of others doesn't keep a
    /// capture from connecting.
    private static let backlog: Int32 = 128

    /// Listens at `address`: a path, a TCP port, or the descriptor of a ``PassedListener``, which it then owns.
    ///
    /// - Parameter hasToken: Whether captures have to prove a token. Without one, listening is allowed only on
    ///   addresses of this machine.
    /// - Throws: `portTaken`, `notOurAddress`, `unusableDescriptor`, or `tokenRequired` if other machines can reach the
    ///   address and captures have no token; the errors of ``init(path:)`` for a path.
    public convenience init(
        at address: LinkAddress, hasToken: Bool = false
    ) throws(SocketError) {
        try self.init(at: address, hasToken: hasToken, encryption: nil)
    }

    /// Listens at `address`, for captures that have to prove that they have `token`. An encrypted address needs one,
    /// and a TCP socket that was passed on is encrypted if there is one. Throws the errors of the initialiser above, or
    /// `encryption` if this process lacks what TLS needs.
    public convenience init(at address: LinkAddress, token: LinkToken?) throws(SocketError) {
        var encryption: SocketEncryption?
        switch address {
        case .tls, .descriptor: if let token { encryption = try SocketEncryption(token: token) }
        case .unix, .tcp: break
        }
        try self.init(at: address, hasToken: token != nil, encryption: encryption)
    }

    private convenience init(
        at address: LinkAddress, hasToken: Bool, encryption: SocketEncryption?
    ) throws(SocketError) {
        switch address {
        case .unix(let path): try self.init(path: path)
        case .tcp(let host, let port): try self.init(at: address, host: host, port: port, hasToken: hasToken)
        case .tls(let host, let port):
            guard let encryption else { throw .tokenRequired(address: "\(address)") }
            try self.init(at: address, host: host, port: port, hasToken: true, encryption: encryption)
        case .descriptor(let number): try self.init(passed: number, hasToken: hasToken, encryption: encryption)
        }
    }

    /// Listens with a socket that another process has bound.
    private init(passed number: Int32, hasToken: Bool, encryption: SocketEncryption?) throws(SocketError) {
        guard let passed = PassedListener(number) else {
            throw .unusableDescriptor(number: number, reason: "it is not a socket that listens")
        }
        let listening = FileDescriptor(owning: number)
        try makeNonBlocking(listening)
        if let (host, port) = passed.network {
            let plain = LinkAddress.tcp(host: host, port: port)
            guard hasToken || passed.isLocal else { throw .tokenRequired(address: "\(plain)") }
            try TCPOptions.boundUnread(listening)
            address = encryption == nil ? plain : .tls(host: host, port: port)
            self.encryption = encryption
        } else {
            // Unix sockets are never encrypted.
            address = .descriptor(number)
            self.encryption = nil
        }
        file = nil
        socket = consume listening
    }

    /// Listens on the first address of `host`, and waits until the system has resolved it.
    private init(
        at asked: LinkAddress, host: String, port: UInt16, hasToken: Bool, encryption: SocketEncryption? = nil
    ) throws(SocketError) {
        let found = try NetworkAddress.resolve(host: host, port: port, isNumeric: false).get()
        guard let place = found.first else {
            throw .nameUnknown(host: host, reason: "it has no IP address", isTemporary: false)
        }
        guard hasToken || place.isLoopback else { throw .tokenRequired(address: "\(asked)") }
        let listening = try place.makeSocket()
        let number = listening.rawValue
        var (on, off): (Int32, Int32) = (1, 0)
        let size = socklen_t(MemoryLayout<Int32>.size)
        // A restarted host must not have to wait until the connections of the previous one are forgotten.
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
        let real = NetworkAddress(of: number) { getsockname($0, $1, $2) }?.port ?? port
        address = encryption == nil ? .tcp(host: host, port: real) : .tls(host: host, port: real)
        self.encryption = encryption
        file = nil
        socket = consume listening
    }

    /// Listens on `path`, whose folder must exist. The socket file has mode 0600 before anyone can connect.
    ///
    /// A socket file that a dead process left behind is replaced; for a live one, the error is `alreadyListening`.
    ///
    /// - Throws: `alreadyListening`, `notASocket`, `folderMissing`, `folderLocked`, `pathTooLong`, `permissionDenied`,
    ///   or `system`.
    public init(path: String) throws(SocketError) {
        let address = try SocketAddress(path: path)
        let listening = try SocketAddress.makeSocket()
        // If two hosts start at once, neither must mistake the other's new socket for that of a dead process.
        let lock = try FolderLock(folder: address.folder)
        defer { lock.release() }
        // On Linux the socket file gets the mode of the unbound socket, so the mode is right from the start, and the
        // umask, which all threads share, needn't change.
        let number = listening.rawValue
        try systemCall("fchmod", on: path) { fchmod(number, 0o600) }
        try Self.bind(listening, to: address)
        try systemCall("listen", on: path) { listen(number, Self.backlog) }
        self.address = .unix(path: path)
        encryption = nil
        file = FileStatus(path: path)
        socket = consume listening
    }

    deinit {
        close()
    }

    /// The file descriptor for poll(2), which is readable when a connection waits; -1 after `close`.
    public var descriptor: Int32 { socket?.rawValue ?? -1 }

    /// Accepts the next waiting connection; nil if there is none.
    ///
    /// - Parameter offered: encrypts a connection over `tcp:` whose client begins with a TLS handshake. The client
    ///   speaks first then.
    /// - Throws: `foreignPeer` if another user connected. That connection is closed, and the listener continues.
    public func accept(offering offered: SocketEncryption? = nil) throws(SocketError) -> SocketConnection? {
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
        guard address.network != nil else {
            try PeerCredentials(of: connected).check()
            return SocketConnection(adopting: connected)
        }
        let remote = NetworkAddress(of: accepted) { getpeername($0, $1, $2) }
        try TCPOptions.set(connected, end: .host)
        guard let encryption else {
            let connection = SocketConnection(adopting: connected, remote: remote?.host ?? "?")
            connection.offered = offered
            return connection
        }
        return try SocketConnection(adopting: connected, remote: remote?.host ?? "?", encryption, .host)
    }

    /// Stops listening, and removes the socket file if it is still the one that this listener made.
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
    ) throws(SocketError) {
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

    /// Removes a socket file on which no process listens any more.
    private static func removeIfDead(_ address: SocketAddress) throws(SocketError) {
        guard let status = FileStatus(path: address.path) else { return }
        if !status.isSocket { throw .notASocket(path: address.path) }
        let probe = try SocketAddress.makeSocket()
        let number = probe.rawValue
        let (_, code) = retryingInterrupted { address.withSockaddr { Glibc.connect(number, $0, $1) } }
        switch code {
        case ECONNREFUSED: unlink(address.path)
        case ENOENT: return
        case EACCES, EPERM: throw .permissionDenied(path: address.path)
        // It is connected, or its backlog is full: in either case a process listens.
        default: throw .alreadyListening(path: address.path)
        }
    }
}
