/// A server on this machine that a test plays byte by byte, with one client at a time.
public final class RawServer {
    public let port: UInt16
    /// The name of the X display whose server this would be (X11 protocol, appendix B: the ports from 6000 on).
    public var displayName: String { "127.0.0.1:\(Int(port) - 6000)" }
    private let listener: TestSocket
    private var client: TestSocket?

    public init() throws {
        listener = try TestSocket(listening: .tcp)
        port = listener.port
    }

    /// Whether another client waits to be accepted.
    public var hasNext: Bool { listener.hasNext }

    /// Waits for the next client, and lets the one before go.
    public func accept() throws {
        endConnection()
        client = try listener.accepted()
    }

    /// Waits for the next client, and for its whole request, whose head is returned. What is left unread when the
    /// connection is closed would reset it, and the client might lose its answer.
    public func acceptRequest() throws -> String {
        try accept()
        let head = try connected().take(through: "\r\n\r\n")
        let name = "content-length: "
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.count)
        _ = try connected().take(Int(length ?? "0") ?? 0)
        return head
    }

    /// Waits for the next client, and returns all that it sends until it closes the connection.
    public func acceptToEnd() throws -> [UInt8] {
        try accept()
        return try takeToEnd()
    }

    /// Returns all that the client sends until it closes the connection.
    public func takeToEnd() throws -> [UInt8] { try connected().readToEnd("a client's bytes") }

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

    /// Waits until the client has sent so many bytes, and returns all that has come.
    public func take(atLeast count: Int) throws -> [UInt8] {
        let client = try connected()
        return try client.take(count) + client.takeAll()
    }

    /// Sends all of `bytes`, waiting for room; false if the client has closed meanwhile.
    @discardableResult
    public func send(_ bytes: [UInt8]) throws -> Bool { try connected().send(bytes) }

    /// Closes the connection to the client.
    public func endConnection() { client = nil }

    private func connected() throws -> TestSocket {
        guard let client else { throw TestSocket.Failure(what: "no client was accepted") }
        return client
    }
}
