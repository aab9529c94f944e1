import Glibc

/// A server on this machine that a test plays byte by byte, with one client at a time.
public final class RawServer {
    public let port: UInt16
    /// The name of the X display whose server this would be (X11 protocol, appendix B: the ports from 6000 on).
    public var displayName: String { "127.0.0.1:\(Int(port) - 6000)" }
    private let listener: Int32
    private var client: Int32 = -1
    /// What has come and was not taken yet.
    private var received: [UInt8] = []

    public init() throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw FileError(path: "socket", errno: errno) }
        port = try bindToLoopback(listener)
        guard listen(listener, 8) == 0 else { throw FileError(path: "listen", errno: errno) }
    }

    deinit {
        close(listener)
        endConnection()
    }

    /// Whether another client waits to be accepted.
    public var hasNext: Bool {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 0) == 1
    }

    /// Waits for the next client, and lets the one before go.
    public func accept() throws {
        endConnection()
        client = try eventually("a client") { () -> Int32? in
            guard hasNext else { return nil }
            let next = Glibc.accept(listener, nil, nil)
            guard next >= 0 else { return nil }
            _ = fcntl(next, F_SETFD, FD_CLOEXEC)
            _ = fcntl(next, F_SETFL, O_NONBLOCK)
            return next
        }
    }

    /// Waits for the next client, and for its whole request, whose head is returned. What is left unread when the
    /// connection is closed would reset it, and the client might lose its answer.
    public func acceptRequest() throws -> String {
        try accept()
        let head = try takeHead()
        let name = "content-length: "
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.count)
        let count = Int(length ?? "0") ?? 0
        try eventually("the body of a request") {
            read()
            return received.count >= count
        }
        received.removeFirst(count)
        return head
    }

    /// Waits for the next client, and returns all that it sends until it closes the connection.
    public func acceptToEnd() throws -> [UInt8] {
        try accept()
        return try takeToEnd()
    }

    /// Returns all that the client sends until it closes the connection.
    public func takeToEnd() throws -> [UInt8] {
        try eventually("the end of a connection") {
            read()
            var byte: UInt8 = 0
            return recv(client, &byte, 1, Int32(MSG_PEEK)) == 0 ? received : nil
        }
    }

    /// Waits for the next client, and opens a WebSocket to it (RFC 6455 section 4.2). Returns the head of its request.
    ///
    /// - Parameter proof: makes `Sec-WebSocket-Accept` of the client's key.
    public func acceptWebSocket(proof: (String) -> String, subprotocol: String? = nil) throws -> String {
        let head = try acceptRequest()
        let name = "sec-websocket-key: "
        let key = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.count) ?? ""
        var answer =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(proof(String(key)))\r\n"
        if let subprotocol { answer += "Sec-WebSocket-Protocol: \(subprotocol)\r\n" }
        try send(Array((answer + "\r\n").utf8))
        return head
    }

    private func takeHead() throws -> String {
        let end = Array("\r\n\r\n".utf8)
        return try eventually("the head of a request") {
            if let range = received.firstRange(of: end) {
                defer { received.removeFirst(range.upperBound) }
                return String(decoding: received[..<range.upperBound], as: UTF8.self)
            }
            read()
            return nil
        }
    }

    /// Waits until the client has sent so many bytes, and returns all that has come.
    public func take(atLeast count: Int) throws -> [UInt8] {
        try eventually("\(count) bytes") {
            read()
            guard received.count >= count else { return nil }
            defer { received = [] }
            return received
        }
    }

    private func read() {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(client, &chunk, chunk.count, 0)
        if count > 0 { received += chunk.prefix(count) }
    }

    /// Sends all of `bytes`, waiting for room; false if the client has closed meanwhile.
    @discardableResult
    public func send(_ bytes: [UInt8]) throws -> Bool {
        var sent = 0
        return try eventually("the client to read") {
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(client, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return errno == EAGAIN ? nil : false }
                sent += count
            }
            return true
        }
    }

    /// Closes the connection to the client.
    public func endConnection() {
        if client >= 0 { close(client) }
        client = -1
        received = []
    }
}
