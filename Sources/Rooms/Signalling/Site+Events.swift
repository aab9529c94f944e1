import CGLib

/// `GET /api/events`: what happens, as `share` and `host` tell it with `--json`, over a WebSocket, one object a message.
///
/// Messages to a reader that is too slow wait within ``SignallingLimits/unread``; past that it is dropped.
extension Site {
    func events(_ exchange: HTTPExchange) {
        guard exchange.method == "GET" else {
            return exchange.answer(Self.problem(405, "not possible", [("Allow", "GET")]))
        }
        guard exchange.wantsWebSocket else {
            return exchange.answer(Self.problem(426, "open a WebSocket here", [("Upgrade", "websocket")]))
        }
        guard eventReaders.count < limits.eventReaders else {
            return exchange.answer(Self.problem(503, "too many read events already", [("Retry-After", "5")]))
        }
        acceptWebSocket(exchange) { [unowned self] exchange, stream in
            let socket = WebSocketConnection(stream, of: exchange.connection, limits: limits, on: context)
            // Its client has shown the administration's token.
            socket.admit()
            let id = ObjectIdentifier(socket)
            eventReaders[id] = socket
            socket.onEnd = { [unowned self] in eventReaders[id] = nil }
            socket.start()
        }
    }

    /// Tells everybody who reads events.
    func tell(event: String) {
        let frame = WebSocketFrame.text(event)
        for reader in Array(eventReaders.values) { reader.send(frame: frame) }
    }

    /// Pings.
    func tickEvents() {
        for reader in Array(eventReaders.values) { reader.tick() }
    }
}
