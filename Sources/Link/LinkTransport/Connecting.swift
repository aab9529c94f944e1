import Glibc
import MediaTypes

extension LinkConnection {
    /// Connects to `address`: a host's socket, or the socket that the parent process handed down. Over TCP it waits for the
    /// answer, a few seconds at most; ``LinkDial`` doesn't.
    ///
    /// - Parameter hasToken: whether there is one to show: without it only this machine's own addresses are tried.
    /// - Throws: `notListening` and `unreachable` where nobody is there now (try again), `permissionDenied` and `foreignPeer`
    ///   where the host is not of our user nor root's, `tokenRequired` where the address is another machine's.
    public static func connect(
        to address: LinkAddress, hasToken: Bool = false, limit: Int = LinkConnection.standardLimit
    ) throws(LinkTransportError) -> LinkConnection {
        let dial = try LinkDial(to: address, hasToken: hasToken, limit: limit)
        while true {
            if let connection = try dial.advance() { return connection }
            var waiting = pollfd(fd: dial.descriptor, events: dial.events, revents: 0)
            let left = (dial.deadline - monotonicTime()).milliseconds
            poll(&waiting, 1, Int32(clamping: max(0, left + 1)))
        }
    }

    /// A connection that needs no waiting for.
    static func connectAtOnce(to address: LinkAddress, limit: Int) throws(LinkTransportError) -> LinkConnection {
        switch address {
        case .unix(let path): try connect(toPath: path, limit: limit)
        case .descriptor(let number): try adopt(descriptor: number, limit: limit)
        case .tcp: throw .invalidAddress(text: "\(address)", reason: "a TCP address has to be dialled")
        }
    }

    private static func connect(toPath path: String, limit: Int) throws(LinkTransportError) -> LinkConnection {
        let address = try SocketAddress(path: path)
        let socket = try SocketAddress.makeSocket()
        let number = socket.rawValue
        let (_, code) = retryingInterrupted { address.withSockaddr { Glibc.connect(number, $0, $1) } }
        switch code {
        case 0: break
        // EAGAIN: the host is there and too many wait for it; a Unix socket never answers EINPROGRESS.
        case ENOENT, ENOTDIR, EAGAIN: throw .notListening(path: path)
        case ECONNREFUSED:
            // The kernel's answer for a dead host's socket and for a file that was never a socket alike.
            if let status = FileStatus(path: path), !status.isSocket, !status.isLink { throw .notASocket(path: path) }
            throw .notListening(path: path)
        case EPROTOTYPE: throw .notASocket(path: path)
        case EACCES, EPERM: throw .permissionDenied(path: path)
        default: throw .system(call: "connect", subject: path, code: code)
        }
        // Whoever was first to put a socket there gets our screen: make sure that it was us.
        try PeerCredentials(of: socket).check()
        return LinkConnection(adopting: socket, limit: limit)
    }

    private static func adopt(descriptor number: Int32, limit: Int) throws(LinkTransportError) -> LinkConnection {
        try LinkAddress.descriptor(number).checkHandedDown()
        var name = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let peer = retryingInterrupted {
            withUnsafeMutablePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(number, $0, &length) }
            }
        }
        // A socket whose peer is already gone counts as connected: reading will find its end.
        if peer.code != 0 && peer.code != EINVAL {
            throw .unusableDescriptor(number: number, reason: "it is a socket that isn't connected")
        }
        let socket = FileDescriptor(owning: number)
        try makeNonBlocking(socket)
        let remote = NetworkAddress(of: number) { getpeername($0, $1, $2) }
        return LinkConnection(adopting: socket, limit: limit, remote: remote?.host)
    }
}

extension LinkAddress {
    /// Throws where the address names a descriptor that isn't open, or is no socket.
    ///
    /// For a program's beginning: what it opens itself later may get the very number, and be taken for the link.
    public func checkHandedDown() throws(LinkTransportError) {
        guard case .descriptor(let number) = self else { return }
        var status = stat()
        if retryingInterrupted({ fstat(number, &status) }).code != 0 {
            throw .unusableDescriptor(number: number, reason: "it is not open; who starts us has to hand it down")
        }
        if status.st_mode & S_IFMT != S_IFSOCK { throw .unusableDescriptor(number: number, reason: "it is no socket") }
    }
}
