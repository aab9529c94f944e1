import Clocks
import MediaTypes
import SocketIORooms

/// Long polling: a GET waits for packets to the client, and a POST brings packets from it.
extension EngineSession {
    /// Handles a GET: it is answered at once if packets are waiting, or else when there are some.
    func poll(_ exchange: HTTPExchange, _ headers: HTTPHeaders) {
        guard waiting == nil else {
            exchange.answer(.engineError(.badRequest, headers))
            return end()
        }
        if isAdmitted { exchange.connection?.isAdmitted = true }
        exchange.pause()
        waiting = Poll(exchange: exchange, headers: headers)
        flush()
        if case .closing = state, unsent.isEmpty { return end() }
        // A client that is about to upgrade to its WebSocket must not be kept waiting for a response here.
        if upgrade?.isProbed == true { answerPoll([EnginePacket(.noop)]) }
    }

    /// Whether a POST may begin on `connection`. Two at the same time are not allowed, and end the session.
    func mayPost(on connection: ClientConnection?) -> Bool {
        guard posting == nil || posting === connection else {
            end()
            return false
        }
        posting = connection
        return true
    }

    /// Handles a POST that has been received completely.
    func post(_ exchange: HTTPExchange, _ headers: HTTPHeaders) {
        posting = nil
        var payloadLimits = EnginePayload.Limits()
        payloadLimits.bytes = min(payloadLimits.bytes, limits.body)
        guard let packets = try? EnginePayload.decode(exchange.body, version, limits: payloadLimits),
            pay(for: packets.count)
        else {
            exchange.answer(.engineError(.badRequest, headers))
            return end()
        }
        exchange.answer(
            HTTPResponse(200, headers: headers, contentType: "text/plain; charset=UTF-8", body: [0x6F, 0x6B]))
        for packet in packets { receive(packet) }
    }

    private func pay(for packets: Int) -> Bool {
        let now = MonotonicTime.now()
        packetsPaid = max(packetsPaid, now - Self.burstTime) + limits.messagePrice * Int64(packets)
        return packetsPaid <= now
    }

    func flush() {
        guard waiting != nil, !unsent.isEmpty else { return }
        // python-engineio 3 accepts no more packets at once.
        let packets = Array(unsent.prefix(16))
        unsent.removeFirst(packets.count)
        unsentCount = unsent.reduce(0) { $0 + Self.cost(of: $1) }
        answerPoll(packets)
    }

    func answerPoll(_ packets: [EnginePacket]) {
        guard let poll = waiting else { return }
        waiting = nil
        let body = Array(EnginePayload.encode(packets, version).utf8)
        poll.exchange.answer(
            HTTPResponse(200, headers: poll.headers, contentType: "text/plain; charset=UTF-8", body: body))
        poll.exchange.resume()
    }
}

/// The upgrade from polling to a WebSocket.
extension EngineSession {
    /// Whether a WebSocket may try to take over.
    var mayUpgrade: Bool {
        if case .open = state { isPolling && upgrade == nil } else { false }
    }

    /// Prepares an upgrade to a WebSocket, which isn't started yet. It takes over when the client has probed it and
    /// confirms; otherwise the attempt fails after 10 s.
    func probe(_ socket: WebSocketConnection) {
        upgrade = Upgrade(socket: socket, deadline: .now() + limits.engineUpgradeTime)
        socket.onMessage = { [unowned self] text in probing(text) }
        socket.onEnd = { [unowned self] in upgrade = nil }
    }

    private func probing(_ text: String) {
        guard let socket = upgrade?.socket else { return }
        switch EnginePacket(parsing: text) {
        case EnginePacket(.ping, "probe"):
            upgrade?.isProbed = true
            socket.send(EnginePacket(.pong, "probe").encoded)
            flush()
            answerPoll([EnginePacket(.noop)])
        case EnginePacket(.upgrade) where upgrade?.isProbed == true:
            upgrade = nil
            transport = .webSocket(socket)
            if isAdmitted { socket.admit() }
            lastHeard = .now()
            listen(to: socket)
            answerPoll([EnginePacket(.noop)])
            for packet in unsent { socket.send(packet.encoded) }
            unsent = []
        default: socket.close(.policy)
        }
    }

    func dropUpgrade() {
        guard let socket = upgrade?.socket else { return }
        upgrade = nil
        socket.onEnd = {}
        socket.abort()
    }
}
