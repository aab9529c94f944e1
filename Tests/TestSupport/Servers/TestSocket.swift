import Glibc
import MediaTypes

/// A socket to a program of this machine, or one that listens for it: it sends exactly the bytes that a test gives it,
/// and keeps what arrives until the test takes it. No transport code of the product is in it.
///
/// For one thread at a time. Waits as long as ``eventually(_:within:_:)`` at most. Closed with the last reference.
public final class TestSocket {
    /// The transport of a socket.
    public enum Kind: Sendable {
        case tcp, udp
    }

    /// What the peer did instead of what a test waited for.
    public struct Failure: Error, CustomStringConvertible {
        public let what: String
        public var description: String { what }

        public init(what: String) { self.what = what }
    }

    /// The descriptor; -1 once the socket is closed.
    public private(set) var descriptor: Int32
    /// The port of 127.0.0.1 that it is bound to, if it listens there; otherwise 0.
    public private(set) var port: UInt16 = 0
    /// The bytes that have arrived and weren't taken yet.
    public private(set) var received: [UInt8] = []
    /// Whether the peer has closed the connection, by an end or a reset, and all that it sent has been read.
    public private(set) var isAtEnd = false

    /// Takes over a connected socket.
    public init(owning descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Connects to a port of 127.0.0.1. A UDP socket sends there.
    ///
    /// - Parameters:
    ///   - receiveBuffer: the kernel's buffer for what isn't read, in bytes. It has to be set before the socket
    ///     connects: of a window that shrinks later, the kernel fills a little at each tick of a timer that slows down
    ///     while nothing is read.
    ///   - own: the client's port, unless it is 0.
    ///   - host: the last byte of the client's address, 127.0.0.`host`.
    public convenience init(
        port: UInt16, _ kind: Kind = .tcp, receiveBuffer: Int32? = nil, from own: UInt16 = 0, at host: UInt8 = 1
    ) throws {
        try self.init(AF_INET, kind)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        if own != 0 || host != 1 {
            guard Self.with(own, at: host, { bind(descriptor, $0, $1) }) == 0 else {
                throw FileError(path: "port \(own)", errno: errno)
            }
        }
        guard Self.with(port, { connect(descriptor, $0, $1) }) == 0 else {
            throw FileError(path: "127.0.0.1:\(port)", errno: errno)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Connects to the Unix socket at `path`.
    public convenience init(path: String) throws {
        try self.init(AF_UNIX, .tcp)
        guard Self.with(path, { connect(descriptor, $0, $1) }) == 0 else { throw FileError(path: path, errno: errno) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Listens at `path`.
    public convenience init(listeningAt path: String) throws {
        try self.init(AF_UNIX, .tcp)
        guard Self.with(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
            throw FileError(path: path, errno: errno)
        }
    }

    /// Listens on a port of 127.0.0.1 that was free, ``port``. A UDP socket is only bound to it.
    public convenience init(listening kind: Kind) throws {
        try self.init(AF_INET, kind)
        port = try bindToLoopback(descriptor)
        guard kind == .udp || listen(descriptor, 8) == 0 else {
            throw FileError(path: "127.0.0.1:\(port)", errno: errno)
        }
    }

    private init(_ domain: Int32, _ kind: Kind) throws {
        let type = kind == .udp ? SOCK_DGRAM : SOCK_STREAM
        descriptor = socket(domain, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw FileError(path: "socket", errno: errno) }
    }

    deinit { close() }

    /// Closes it. Idempotent.
    public func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private static func with(
        _ port: UInt16, at host: UInt8 = 1, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = loopbackAddress(port: port)
        address.sin_addr.s_addr = (127 << 24 | UInt32(host)).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

// MARK: - Connections

extension TestSocket {
    /// Whether a client waits to be accepted.
    public var hasNext: Bool { isReady(POLLIN, within: 0) }

    /// Waits for the next client of a listening socket, and accepts it.
    public func accepted() throws -> TestSocket {
        try eventually("a client") {
            guard hasNext else { return nil }
            let next = accept(descriptor, nil, nil)
            return next >= 0 ? TestSocket(owning: next) : nil
        }
    }

    /// Ends our direction, as the network does for a client that has vanished.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both directions, as the peer sees; the descriptor stays.
    public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Vanishes, and waits until the peer has closed.
    public func breakOff() throws {
        endSending()
        try waitForEnd()
    }

    /// Waits until the peer has closed.
    public func waitForEnd() throws {
        try eventually("the peer to close") {
            read()
            return isAtEnd
        }
    }

    private func isReady(_ events: Int32, within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return poll(&waiting, 1, milliseconds) > 0
    }
}

// MARK: - Sending

extension TestSocket {
    /// Sends all of `bytes`, and waits for room, while it reads what arrives; returns false if the peer closes before.
    @discardableResult
    public func send(_ bytes: [UInt8]) throws -> Bool {
        var sent = 0
        return try eventually("the peer to read") {
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                let failure = errno
                if count > 0 {
                    sent += count
                } else if failure == EAGAIN {
                    if isReady(POLLIN | POLLOUT, within: 20) { readAvailable() }
                    return isAtEnd ? false : nil
                } else if failure != EINTR {
                    readAvailable()
                    return false
                }
            }
            return true
        }
    }

    @discardableResult
    public func send(_ text: String) throws -> Bool { try send(Array(text.utf8)) }
}

// MARK: - Receiving

extension TestSocket {
    /// Reads what is there, or comes within 20 ms.
    public func read() {
        _ = isReady(POLLIN, within: 20)
        readAvailable()
    }

    /// Reads what is there.
    public func readAvailable() {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while !isAtEnd {
            let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received += chunk.prefix(count)
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                isAtEnd = true
            } else {
                return
            }
        }
    }

    /// Takes what has arrived: nothing, if nothing has; nil at the end.
    public func receive() -> [UInt8]? {
        if received.isEmpty { readAvailable() }
        return received.isEmpty && isAtEnd ? nil : takeAll()
    }

    /// Takes what was read.
    public func takeAll() -> [UInt8] {
        defer { received = [] }
        return received
    }

    /// Takes the first `count` bytes when they have come.
    public func take(_ count: Int) throws -> [UInt8] {
        try eventually("\(count) bytes, of which \(received.count) came") {
            if received.count < count { read() }
            guard received.count >= count else {
                if isAtEnd { throw Failure(what: "closed after \(received.count) bytes") }
                return nil
            }
            defer { received.removeFirst(count) }
            return Array(received.prefix(count))
        }
    }

    /// Takes bytes up to and with `end`.
    public func take(through end: String) throws -> String {
        let mark = Array(end.utf8)
        return try eventually("\(end.debugDescription)") {
            if received.firstRange(of: mark) == nil { read() }
            if let range = received.firstRange(of: mark) {
                defer { received.removeFirst(range.upperBound) }
                return String(decoding: received[..<range.upperBound], as: UTF8.self)
            }
            if isAtEnd { throw Failure(what: "closed after: \(String(decoding: received, as: UTF8.self))") }
            return nil
        }
    }

    /// Takes all that comes until the peer closes, which it has to do soon.
    @discardableResult
    public func readToEnd(_ what: String) throws -> [UInt8] {
        try eventually("the end of the connection after \(what)") {
            read()
            return isAtEnd ? takeAll() : nil
        }
    }

    /// The first `count` bytes when they have come; they stay unread.
    public func peek(_ count: Int) throws -> String {
        try eventually("\(count) bytes") {
            _ = isReady(POLLIN, within: 20)
            var bytes = [UInt8](repeating: 0, count: count)
            guard recv(descriptor, &bytes, count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == count else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Whether the peer has closed the connection; what it sent before is dropped.
    public var hasEnded: Bool {
        readAvailable()
        received = []
        return isAtEnd
    }

    /// Whether the peer has neither closed the connection nor sent anything that wasn't taken.
    public var isSilent: Bool { received.isEmpty && !isReady(POLLIN, within: 0) }
}
