import FoundationEssentials
import MediaTypes
import OutputLife
import Signalling

/// The WebSocket of an attempt, on whose thread it is used and waits.
final class JanusSocket {
    /// The longest message, in bytes.
    private static let messageLimit = 256 << 10

    private let context: CancellableContext
    private var socket: ClientWebSocket?
    /// At most what comes at once: nothing more is read before these are taken.
    private var messages: [String] = []
    private var isOpen = false
    private var failure: OutputError?

    /// Connects to `url`, of HTTP.
    init(_ url: String, _ context: CancellableContext) throws(OutputError) {
        guard let address = WebSocketAddress(url, subprotocol: "janus-protocol") else {
            throw OutputError("its URL can't be used", isFinal: true)
        }
        self.context = context
        let socket = ClientWebSocket(to: address, limit: Self.messageLimit, on: context.main) { [weak self] event in
            self?.take(event)
        }
        self.socket = socket
        socket.connect()
        context.run { isOpen || failure != nil }
        if let failure { throw failure }
    }

    deinit { close() }

    private func take(_ event: ClientWebSocket.Event) {
        switch event {
        case .opened: isOpen = true
        case .message(let text): messages.append(text)
        case .ended(let reason): failure = OutputError(reason)
        }
    }

    /// Sends a message.
    func send(_ text: String) throws(OutputError) {
        if let failure { throw failure }
        socket?.send(text)
    }

    /// The next message; nil at the deadline, if `isOver`, or if the attempt must not wait any longer.
    func next(until deadline: MonotonicTime, orUntil isOver: () -> Bool = { false }) throws(OutputError) -> String? {
        context.run(until: deadline) { !messages.isEmpty || failure != nil || isOver() }
        guard messages.isEmpty else { return messages.removeFirst() }
        if let failure { throw failure }
        return nil
    }

    func close() {
        socket?.close()
        socket = nil
    }
}

extension WebSocketAddress {
    /// That of `url`, of HTTP; nil if it can't be read.
    fileprivate init?(_ url: String, subprotocol: String) {
        guard let parts = URLComponents(string: url), let host = parts.percentEncodedHost else { return nil }
        let isSecure = parts.scheme == "https"
        guard let port = UInt16(exactly: parts.port ?? (isSecure ? 443 : 80)) else { return nil }
        let query = parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        self.init(
            host: host, port: port, isSecure: isSecure, target: parts.percentEncodedPath + query,
            subprotocol: subprotocol)
    }
}

extension OutputError {
    fileprivate init(_ reason: WebSocketError) {
        switch reason {
        case .refused(let status) where status == 401 || status == 403:
            self.init("the server refuses this client (\(status))", isFinal: true)
        case .refused(let status): self.init("there is no WebSocket of that kind at this address (\(status))")
        case .notWebSocket: self.init("there is no WebSocket of that kind at this address")
        case .closed: self.init("the server has ended the connection")
        case .nobodyListens: self.init(reason.description, foundNobody: true)
        case .unreachable, .fault, .silent: self.init(reason.description)
        }
    }
}
