import CGLib

/// `GET /api/events`: the same events as `share` and `host` print with `--json`, over a WebSocket, one object per
/// message.
///
/// Messages to a slow reader are queued up to ``SignallingLimits/unread``; beyond that the reader is disconnected.
extension Site {
    func events(_ exchange: HTTPExchange) {
        guard exchange.method == "GET" else {
            return exchange.answer(.problem(405, "not possible", [("Allow", "GET")]))
        }
        guard exchange.wantsWebSocket else {
            return exchange.answer(.problem(426, "open a WebSocket here", [("Upgrade", "websocket")]))
        }
        guard eventReaders.count < limits.eventReaders else {
            return exchange.answer(.problem(503, "too many read events already", [("Retry-After", "5")]))
        }
        front.acceptWebSocket(exchange) { [unowned self] _, socket in
            // The client has given the administration token.
            socket.admit()
            let id = ObjectIdentifier(socket)
            eventReaders[id] = socket
            socket.onEnd = { [unowned self] in eventReaders[id] = nil }
            socket.start()
        }
    }

    /// Sends an event to all readers.
    func tell(event: String) {
        let frame = WebSocketFrame.text(event)
        for reader in Array(eventReaders.values) { reader.send(frame: frame) }
    }

    /// Sends the pings that are due.
    func tickEvents() {
        for reader in Array(eventReaders.values) { reader.tick() }
    }
}
