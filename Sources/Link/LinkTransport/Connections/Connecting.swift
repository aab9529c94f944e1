import CLinux
import Clocks
import Glibc
import MediaTypes
import Threading

extension SocketConnection {
    /// Connects to `address`: a host's socket, or a socket that the parent process passed on.
    ///
    /// Over TCP, it waits for the answer, a few seconds at most; ``LinkDial`` doesn't wait.
    ///
    /// - Parameter token: The token that the host has too. Without one, only addresses of this machine are tried, and
    ///   none that is encrypted.
    /// - Throws: `notListening` and `unreachable` if no host is there now, so that it makes sense to try again;
    ///   `permissionDenied` and `foreignPeer` if the host belongs to neither this user nor root; `tokenRequired` if the
    ///   address is on another machine, or encrypted; `tokenRefused` if it is encrypted and the host has another token.
    public static func connect(
        to address: LinkAddress, token: LinkToken? = nil, limit: Int = SocketConnection.standardLimit
    ) throws(SocketError) -> SocketConnection {
        let dial = try LinkDial(to: address, token: token, limit: limit)
        while true {
            if let connection = try dial.advance() { return connection }
            waitForEvents(on: dial.descriptor, Int32(dial.events), until: dial.deadline)
        }
    }

    /// Makes a connection that doesn't require waiting.
    static func connectAtOnce(to address: LinkAddress, limit: Int) throws(SocketError) -> SocketConnection {
        switch address {
        case .unix(let path): try connect(toPath: path, limit: limit)
        case .descriptor(let number): try adopt(descriptor: number, limit: limit)
        case .tcp, .tls: throw .invalidAddress(text: "\(address)", reason: "a TCP address has to be dialled")
        }
    }

    private static func connect(toPath path: String, limit: Int) throws(SocketError) -> SocketConnection {
        let address = try SocketAddress(path: path)
        let socket = try SocketAddress.makeSocket()
        let number = socket.rawValue
        let (_, code) = retryingInterrupted { address.withSockaddr { Glibc.connect(number, $0, $1) } }
        switch code {
        case 0: break
        // EAGAIN means that the host is there but too many connections wait for it. A Unix socket never returns
        // EINPROGRESS.
        case ENOENT, ENOTDIR, EAGAIN: throw .notListening(path: path)
        case ECONNREFUSED:
            // The kernel gives this answer both for the socket of a dead host and for a file that was never a socket.
            if let status = FileStatus(path: path), !status.isSocket, !status.isLink { throw .notASocket(path: path) }
            throw .notListening(path: path)
        case EPROTOTYPE: throw .notASocket(path: path)
        case EACCES, EPERM: throw .permissionDenied(path: path)
        default: throw .system(call: "connect", subject: path, code: code)
        }
        // The process that owns the socket receives our screen, so make sure that it belongs to us.
        try PeerCredentials(of: socket).check()
        return SocketConnection(adopting: socket, limit: limit)
    }

    private static func adopt(descriptor number: Int32, limit: Int) throws(SocketError) -> SocketConnection {
        try LinkAddress.descriptor(number).checkHandedDown()
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let peer = retryingInterrupted {
            withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &length) }
            }
        }
        // A socket whose peer is already gone counts as connected: reading will reach its end.
        if peer.code != 0 && peer.code != EINVAL {
            throw .unusableDescriptor(number: number, reason: "it is a socket that isn't connected")
        }
        let socket = FileDescriptor(owning: number)
        try makeNonBlocking(socket)
        let remote = NetworkAddress(of: number) { getpeername($0, $1, $2) }
        return SocketConnection(adopting: socket, limit: limit, remote: remote?.host)
    }
}

extension LinkAddress {
    /// Throws if the address is a descriptor that isn't open or isn't a socket.
    ///
    /// Call it when the program starts: a file that the program opens later may get the same number and be mistaken for
    /// the link.
    public func checkHandedDown() throws(SocketError) {
        guard case .descriptor(let number) = self else { return }
        var status = stat()
        if retryingInterrupted({ fstat(number, &status) }).code != 0 {
            throw .unusableDescriptor(number: number, reason: "it is not open; who starts us has to hand it down")
        }
        if status.st_mode & S_IFMT != S_IFSOCK { throw .unusableDescriptor(number: number, reason: "it is no socket") }
    }
}
