import CLinux
import Clocks
import Glibc
public import MediaTypes
import Threading

/// A connection attempt that never blocks.
///
/// Not thread-safe. Its thread polls `descriptor` for `events` until `deadline`, and calls `advance` in either case.
/// Releasing it cancels the attempt.
public final class LinkDial {
    /// How long the system may take to resolve a name.
    private static let lookupTimeout = Interval.seconds(10)
    /// How long one address may take to answer.
    private static let connectTimeout = Interval.seconds(5)
    /// The largest number of a name's addresses that are tried.
    private static let addressLimit = 8

    private let address: LinkAddress
    private let limit: Int
    private let token: LinkToken?
    private var connection: SocketConnection?
    private var lookup: NameLookup?
    private var candidates: ArraySlice<NetworkAddress> = []
    private var socket: FileDescriptor?
    /// A connection whose TLS handshake isn't complete.
    private var handshaking: SocketConnection?
    /// The error of the last address that was tried.
    private var failure: Int32?
    /// The time at which `advance` should be called even if nothing has happened.
    public private(set) var deadline = MonotonicTime.zero

    /// Begins to connect to `address`.
    ///
    /// - Parameters:
    ///   - token: The token that the host has too. Without one, only addresses of this machine are tried, and none that
    ///     is encrypted.
    ///   - limit: The number of bytes that may wait for the peer of the connection.
    /// - Throws: The same errors as ``SocketConnection/connect(to:token:limit:)``.
    public convenience init(
        to address: LinkAddress, token: LinkToken? = nil, limit: Int = SocketConnection.standardLimit
    ) throws(SocketError) {
        var found: [NetworkAddress] = []
        if let (host, port) = address.network {
            found = (try? NetworkAddress.resolve(host: host, port: port, isNumeric: true).get()) ?? []
        }
        try self.init(to: address, found: found, token: token, limit: limit)
    }

    /// Begins to connect to `address`; `found` has the addresses of its host if they are already known.
    init(
        to address: LinkAddress, found: [NetworkAddress], token: LinkToken?, limit: Int = SocketConnection.standardLimit
    ) throws(SocketError) {
        self.address = address
        self.limit = limit
        self.token = token
        guard let (host, port) = address.network else {
            connection = try SocketConnection.connectAtOnce(to: address, limit: limit)
            return
        }
        if case .tls = address, token == nil { throw .tokenRequired(address: "\(address)") }
        if !found.isEmpty {
            candidates = try allowed(found)
            try connectNext()
        } else {
            lookup = try NameLookup(host: host, port: port)
            deadline = MonotonicTime.now() + Self.lookupTimeout
        }
    }

    /// The file descriptor for poll(2); -1 if only `deadline` has to be awaited.
    public var descriptor: Int32 { lookup?.descriptor ?? handshaking?.descriptor ?? socket?.rawValue ?? -1 }

    /// The events for which to poll `descriptor`.
    public var events: Int16 {
        if let handshaking { return Int16(handshaking.wantsWrite ? POLLIN | POLLOUT : POLLIN) }
        return Int16(lookup == nil ? POLLOUT : POLLIN)
    }

    /// Continues the attempt, and returns the connection once there is one.
    ///
    /// - Throws: The reason why the attempt has failed.
    public func advance() throws(SocketError) -> SocketConnection? {
        if let connection { return connection }
        if let lookup {
            if let answer = lookup.answer {
                self.lookup = nil
                candidates = try allowed(answer.get())
                try connectNext()
            } else if MonotonicTime.now() >= deadline {
                throw .nameUnknown(
                    host: address.network?.host ?? "", reason: "the system takes too long to tell", isTemporary: true)
            }
            return connection
        }
        if let handshaking {
            try secure(handshaking)
            return connection
        }
        if waitForEvents(on: descriptor, POLLOUT, until: .zero) != 0 {
            var code: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            let number = descriptor
            try systemCall("getsockopt(SO_ERROR)") { getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) }
            if code == 0 { return try adopt() }
            failure = code
        } else if MonotonicTime.now() < deadline {
            return nil
        } else {
            failure = ETIMEDOUT
        }
        try connectNext()
        return connection
    }

    /// The addresses of a name that may be tried: without a token, pictures must not leave this machine.
    private func allowed(_ found: [NetworkAddress]) throws(SocketError) -> ArraySlice<NetworkAddress> {
        let allowed = token != nil ? found : found.filter(\.isLoopback)
        if allowed.isEmpty { throw .tokenRequired(address: "\(address)") }
        return allowed.prefix(Self.addressLimit)
    }

    /// A socket for an address; nil if this system doesn't support its version of IP.
    private func makeSocket(for next: NetworkAddress) throws(SocketError) -> FileDescriptor? {
        do throws(SocketError) {
            return try next.makeSocket()
        } catch {
            guard case .system(_, _, EAFNOSUPPORT) = error else { throw error }
            return nil
        }
    }

    /// Tries the next address; throws if there are none left.
    private func connectNext() throws(SocketError) {
        while let next = candidates.popFirst() {
            guard let fresh = try makeSocket(for: next) else {
                // An answer from another address is more informative.
                failure = failure ?? EAFNOSUPPORT
                continue
            }
            try TCPOptions.set(fresh, end: .capture)
            let number = fresh.rawValue
            socket = consume fresh
            // Not repeated after EINTR, because the attempt continues in the background, as after EINPROGRESS.
            let code = next.withSockaddr { Glibc.connect(number, $0, $1) } == 0 ? 0 : errno
            switch code {
            case 0:
                _ = try adopt()
                return
            case EINPROGRESS, EINTR:
                deadline = MonotonicTime.now() + Self.connectTimeout
                return
            default: failure = code
            }
        }
        socket = nil
        switch failure {
        case EACCES, EPERM: throw .permissionDenied(path: "\(address)")
        case let code: throw .unreachable(address: "\(address)", code: code ?? ECONNREFUSED)
        }
    }

    /// Takes over the connected socket, unless it is connected to itself.
    private func adopt() throws(SocketError) -> SocketConnection? {
        guard let open = socket.take() else { return nil }
        let ours = NetworkAddress(of: open.rawValue) { getsockname($0, $1, $2) }
        let theirs = NetworkAddress(of: open.rawValue) { getpeername($0, $1, $2) }
        // If no host listens and the kernel happens to choose the requested port for our end, the socket connects to
        // itself.
        if let ours, ours == theirs {
            failure = ECONNREFUSED
            try connectNext()
            return connection
        }
        let remote = theirs?.host ?? "?"
        guard case .tls = address, let token else {
            connection = SocketConnection(adopting: open, limit: limit, remote: remote)
            return connection
        }
        deadline = MonotonicTime.now() + Self.connectTimeout
        try secure(
            SocketConnection(adopting: open, limit: limit, remote: remote, SocketEncryption(token: token), .capture))
        return connection
    }

    /// Continues the handshake of a connection to one address. If the host doesn't complete it, tries the next address.
    private func secure(_ new: SocketConnection) throws(SocketError) {
        handshaking = new
        switch try new.handshake() {
        case .done:
            handshaking = nil
            connection = new
            return
        case .wouldBlock where MonotonicTime.now() < deadline: return
        case .wouldBlock: failure = ETIMEDOUT
        case .ended: failure = ECONNRESET
        }
        handshaking = nil
        try connectNext()
    }
}
