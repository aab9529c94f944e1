import CGLib

/// Turns requests into WebSockets, and keeps all that are open. It belongs to the site's thread.
final class WebSocketFront {
    private let front: HTTPFront
    private let limits: SignallingLimits
    private let context: OpaquePointer
    private var sockets: [ObjectIdentifier: WebSocketConnection] = [:]

    init(_ front: HTTPFront, limits: SignallingLimits, on context: OpaquePointer) {
        self.front = front
        self.limits = limits
        self.context = context
    }

    /// Whether all WebSockets have ended.
    var isEmpty: Bool { sockets.isEmpty }

    /// Sends the pings that are due.
    func tick() {
        for socket in Array(sockets.values) { socket.tick() }
    }

    /// Tells all clients that the host is ending.
    func stop() {
        for socket in Array(sockets.values) { socket.close(.goingAway) }
    }

    /// Ends all remaining connections.
    func abort() {
        for socket in Array(sockets.values) { socket.abort() }
    }

    /// Upgrades a request whose origin has been checked to a WebSocket. Once the response has been written, `open` is
    /// passed the socket, which it has to start, and a new exchange: a closure that captured the old one would create a
    /// reference cycle, because the message keeps the closure alive.
    func accept(
        _ exchange: HTTPExchange, _ open: @escaping (_ exchange: HTTPExchange, _ socket: WebSocketConnection) -> Void
    ) {
        // Sets the status: 101, or an error in the handshake.
        guard soup_websocket_server_process_handshake(exchange.message, nil, nil, nil, nil) != 0 else { return }
        let upgrade = Upgrade { [unowned self] message in
            guard let exchange = front.exchange(of: message), let stream = front.steal(exchange) else { return }
            let socket = WebSocketConnection(stream, of: exchange.connection, limits: limits, on: context)
            let id = ObjectIdentifier(socket)
            sockets[id] = socket
            socket.onGone = { [unowned self] in sockets[id] = nil }
            open(exchange, socket)
        }
        typealias Signal = @convention(c) (OpaquePointer?, gpointer?) -> Void
        let wrote: Signal = { message, data in
            guard let message, let data else { return }
            Unmanaged<Upgrade>.fromOpaque(data).takeUnretainedValue().run(message)
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(exchange.message), "wrote-informational", unsafeBitCast(wrote, to: GCallback.self),
            Unmanaged.passRetained(upgrade).toOpaque(),
            { data, _ in
                if let data { Unmanaged<Upgrade>.fromOpaque(data).release() }
            }, GConnectFlags(rawValue: 0))
    }
}

/// The closure to call when the handshake's response has been written.
private final class Upgrade {
    let run: (_ message: OpaquePointer) -> Void
    init(_ run: @escaping (_ message: OpaquePointer) -> Void) { self.run = run }
}
