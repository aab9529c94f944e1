/// Who may use `/api`.
public struct Administration: Sendable {
    /// The accepted Bearer token. It grants access to no room.
    public let token: String
    /// Whether other machines may use `/api`, not only this one.
    public let allowsNetwork: Bool
    /// The file that contains the token, so that people can find it; nil if there is none.
    public let tokenFile: String?

    public init(token: String, allowsNetwork: Bool, tokenFile: String? = nil) {
        self.token = token
        self.allowsNetwork = allowsNetwork
        self.tokenFile = tokenFile
    }
}

/// `/api`: the commands of the control socket, and the events, for clients with the administration token
/// (`Protocol/openapi.yaml`).
///
/// No response has a CORS header.
final class AdministrationAPI {
    private let admission: Admission
    private let routes: CommandRoutes
    private let webSockets: WebSocketFront
    private let maxReaders: Int
    /// The WebSockets that read events.
    private var readers: [ObjectIdentifier: WebSocketConnection] = [:]

    init(
        _ configuration: SignallingConfiguration, webSockets: WebSocketFront, admission: Admission, rooms: RoomCommands
    ) {
        routes = CommandRoutes(rooms: rooms, commands: configuration.commands)
        maxReaders = configuration.limits.eventReaders
        self.webSockets = webSockets
        self.admission = admission
    }

    /// Handles a request to the path `names` below `/api`.
    func handle(_ exchange: HTTPExchange, _ names: [String]) {
        if let refusal = admission.checkAdministration(exchange) { return exchange.answer(refusal) }
        if names == ["events"] { return readEvents(exchange) }
        exchange.answer(routes.response(to: exchange, at: names))
    }
}

// MARK: - Events

/// `GET /api/events`: the same events as `share` and `host` print with `--json`, over a WebSocket, one object per
/// message.
///
/// Messages to a slow reader are queued up to ``SignallingLimits/unread``; beyond that the reader is disconnected.
extension AdministrationAPI {
    private func readEvents(_ exchange: HTTPExchange) {
        guard exchange.method == "GET" else {
            return exchange.answer(.problem(405, HTTPResponse.wrongMethod("GET"), [("Allow", "GET")]))
        }
        guard exchange.wantsWebSocket else {
            return exchange.answer(
                .problem(426, "events are sent over a WebSocket; open one here", [("Upgrade", "websocket")]))
        }
        guard readers.count < maxReaders else {
            return exchange.answer(
                .problem(
                    503, "too many clients read events already; try again when one of them has ended",
                    [("Retry-After", "5")]))
        }
        webSockets.accept(exchange) { [unowned self] _, socket in
            socket.admit()
            let id = ObjectIdentifier(socket)
            readers[id] = socket
            socket.onEnd = { [unowned self] in readers[id] = nil }
            socket.start()
        }
    }

    /// Sends an event to all readers.
    func tell(_ event: String) {
        let frame = WebSocketFrame.text(event)
        for reader in Array(readers.values) { reader.send(frame: frame) }
    }
}
