import CGLib
import FoundationEssentials

/// Where one of our WebSockets connects to.
package struct WebSocketAddress: Hashable, Sendable {
    /// A name or an address, as in a URL: an IPv6 address has brackets.
    package var host: String
    package var port: UInt16
    /// Whether it goes over TLS.
    package var isSecure: Bool
    /// The path and the query, percent-encoded; it begins with a slash.
    package var target: String
    /// The only subprotocol that we speak there; nil if none is asked for.
    package var subprotocol: String?

    package init(host: String, port: UInt16, isSecure: Bool, target: String, subprotocol: String? = nil) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.target = target
        self.subprotocol = subprotocol
    }
}

/// The opening handshake of a client (RFC 6455 section 4.1). A pure value.
struct ClientHandshake {
    /// The largest head of a response, in bytes.
    static let limit = 16 * 1024

    /// The request, to be sent as it is.
    let request: [UInt8]
    /// The value by which the server has to prove that it has read the request.
    private let proof: String
    private let subprotocol: String?
    private var head: [UInt8] = []

    /// - Parameter nonce: 16 random bytes.
    init(to address: WebSocketAddress, nonce: [UInt8]) {
        let key = Data(nonce).base64EncodedString()
        proof = Self.accepting(key)
        subprotocol = address.subprotocol
        let isUsual = address.port == (address.isSecure ? 443 : 80)
        var lines = [
            "GET \(address.target) HTTP/1.1", "Host: \(address.host)\(isUsual ? "" : ":\(address.port)")",
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
            "User-Agent: screenrelay",
        ]
        if let name = address.subprotocol { lines.append("Sec-WebSocket-Protocol: \(name)") }
        request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// `Sec-WebSocket-Accept` for this key.
    static func accepting(_ key: String) -> String {
        guard let checksum = g_checksum_new(G_CHECKSUM_SHA1) else { return "" }
        defer { g_checksum_free(checksum) }
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        g_checksum_update(checksum, text, gssize(text.count))
        var digest = [UInt8](repeating: 0, count: 20)
        var count = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &count)
        return Data(digest).base64EncodedString()
    }

    /// Takes bytes of the response. Returns nil if more are needed, else the bytes behind it, which are the first of
    /// the WebSocket.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(WebSocketError) -> [UInt8]? {
        head += bytes
        let end = Array("\r\n\r\n".utf8)
        guard let place = head.firstRange(of: end) else {
            guard head.count <= Self.limit else { throw .notWebSocket }
            return nil
        }
        guard place.lowerBound <= Self.limit else { throw .notWebSocket }
        try check(String(decoding: head[..<place.lowerBound], as: UTF8.self))
        return Array(head[place.upperBound...])
    }

    private func check(_ head: String) throws(WebSocketError) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let status = (lines.first ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard status.count >= 2, status[0].hasPrefix("HTTP/1."), status[1].utf8.count == 3, let code = Int(status[1])
        else { throw .notWebSocket }
        guard code == 101 else { throw .refused(status: code) }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = parts[1].trimmed
        }
        // Nothing may be negotiated that we haven't asked for.
        guard fields["upgrade"]?.lowercased() == "websocket", fields["sec-websocket-accept"] == proof,
            fields["sec-websocket-extensions"] == nil, fields["sec-websocket-protocol"] == subprotocol
        else { throw .notWebSocket }
    }
}

/// Why one of our WebSockets has ended, in one line without a full stop.
package enum WebSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no connection, or its TLS isn't to be trusted.
    case unreachable(String)
    /// There is no connection because no server listens at the address.
    case nobodyListens(String)
    /// The server answered the handshake with another status than 101.
    case refused(status: Int)
    /// What answers there speaks something else.
    case notWebSocket
    /// The server broke the protocol's rules, or a limit.
    case fault(String)
    /// The server closed the connection, with its close code if it gave one.
    case closed(code: UInt16?)
    /// Nothing was heard for so long that the server or the path to it is gone.
    case silent

    package var description: String {
        switch self {
        case .unreachable(let why), .nobodyListens(let why): why
        case .refused(let status): "the server answered \(status)"
        case .notWebSocket: "the server doesn't speak WebSocket there"
        case .fault(let what): what
        case .closed(let code): "the server closed the connection" + (code.map { " (\($0))" } ?? "")
        case .silent: "the server is silent"
        }
    }
}
