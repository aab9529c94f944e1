import CGLib
import Clocks
import Glibc
import MediaTypes

/// Accepts connections, hands them to libsoup for each request, and enforces limits that libsoup lacks: the number of
/// connections, the time for a request and its response, and the size of a body (checked with libsoup 3.2.3).
///
/// It belongs to the site's thread.
final class HTTPFront {
    /// Decides on a request only from its header. A non-nil response ends the request before its body is read.
    var admit: (HTTPExchange) -> HTTPResponse? = { _ in nil }
    /// Answers a request that has been read completely, or pauses it.
    var handle: (HTTPExchange) -> Void = { _ in }

    private let server: UnsafeMutablePointer<SoupServer>
    private let listeners: [ListeningSocket]
    private let context: OpaquePointer
    private let limits: SignallingLimits
    private let proxies: TrustedProxies
    private var accepting: [EventSource] = []
    private let connections: OpenConnections
    private var lastNumber: UInt64 = 0
    /// nil without TLS.
    private var certificate: TLSCertificate?
    private let handshakes: TLSHandshakes
    private var isStopped = false

    init(
        _ listeners: [ListeningSocket], limits: SignallingLimits, proxies: TrustedProxies,
        certificate: TLSCertificate?, on context: OpaquePointer
    ) {
        self.listeners = listeners
        self.limits = limits
        self.proxies = proxies
        self.certificate = certificate
        self.context = context
        connections = OpenConnections(limits: limits)
        handshakes = TLSHandshakes(limits: limits, on: context)
        server = shim_soup_server_new_raw_paths()
    }

    /// Starts accepting connections. The front must stay alive until `stop`.
    func start() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        soup_server_add_early_handler(
            server, nil, { _, message, _, _, data in HTTPFront.from(data)?.gotHeaders(message) }, me, nil)
        soup_server_add_handler(
            server, nil, { _, message, _, _, data in HTTPFront.from(data)?.gotRequest(message) }, me, nil)
        typealias Signal = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, gpointer?) -> Void
        func connect(_ name: String, _ signal: Signal) {
            shim_g_signal_connect(server, name, unsafeBitCast(signal, to: GCallback.self), me)
        }
        connect("request-started") { _, message, data in HTTPFront.from(data)?.requestStarted(message) }
        connect("request-read") { _, message, data in HTTPFront.from(data)?.requestRead(message) }
        connect("request-finished") { _, message, data in HTTPFront.from(data)?.requestFinished(message) }
        listen()
    }

    /// Closes the listening sockets and every connection that isn't a WebSocket.
    func stop() {
        accepting = []
        for listener in listeners { listener.close() }
        isStopped = true
        handshakes.stop()
        for connection in connections.all {
            connection.endSending()
            _ = connection.unpark()
        }
        soup_server_disconnect(server)
        connections.forgetAll()
        g_object_unref(server)
    }

    /// Closes connections that have passed their deadline, and resumes accepting after the process ran out of
    /// descriptors.
    func tick() {
        let now = MonotonicTime.now()
        for connection in connections.all where connection.deadline < now { connection.deadlineExpired() }
        handshakes.next()
        if accepting.isEmpty { listen() }
    }

    /// Uses another certificate for new connections. Does nothing on a server without TLS.
    func use(_ new: TLSCertificate) {
        if certificate != nil { certificate = new }
    }

    /// Takes the connection of `exchange` away from libsoup to use it for another protocol.
    func steal(_ exchange: HTTPExchange) -> UnsafeMutablePointer<GIOStream>? {
        exchange.connection?.deadline = .distantFuture
        return soup_server_message_steal_connection(exchange.message)
    }

    /// Returns the exchange of a message whose connection still exists.
    func exchange(of message: OpaquePointer) -> HTTPExchange? {
        connections.connection(of: message).map { exchange(of: message, on: $0) }
    }

    private func exchange(of message: OpaquePointer, on connection: ClientConnection) -> HTTPExchange {
        HTTPExchange(message: message, on: connection, proxies: proxies)
    }

    private static func from(_ data: gpointer?) -> HTTPFront? {
        data.map { Unmanaged<HTTPFront>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: - Connections

extension HTTPFront {
    private func listen() {
        accepting = listeners.compactMap { listener in
            EventSource.accepting(listener.socket, on: context, of: self) { $0.accept(listener) }
        }
    }

    private func accept(_ listener: ListeningSocket) -> Bool {
        var error: UnsafeMutablePointer<GError>?
        guard let socket = g_socket_accept(listener.socket, nil, &error) else {
            let isGone = error?.pointee.code == gint(G_IO_ERROR_WOULD_BLOCK.rawValue)
            g_clear_error(&error)
            // Most likely the process is out of descriptors. The waiting connection would wake us constantly, so try at
            // the next tick.
            if !isGone { accepting = [] }
            return isGone
        }
        defer { g_object_unref(socket) }
        g_socket_set_keepalive(socket, 1)
        // The messages are small and the peer waits for them.
        g_socket_set_option(socket, gint(IPPROTO_TCP), TCP_NODELAY, 1, nil)
        guard let local = g_socket_get_local_address(socket, nil) else { return true }
        defer { g_object_unref(local) }
        guard let remote = g_socket_get_remote_address(socket, nil) else { return true }
        defer { g_object_unref(remote) }
        guard let stream = g_socket_connection_factory_create_connection(socket) else { return true }
        defer { g_object_unref(stream) }
        lastNumber += 1
        let connection = ClientConnection(
            socket: socket, local: local, remote: remote, number: lastNumber, proxies: proxies, on: context)
        guard connections.makeRoom(for: connection) else {
            g_socket_close(socket, nil)
            return true
        }
        let plain = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GIOStream.self)
        guard let certificate else {
            connections.keep(connection, until: plain)
            serve(connection, plain)
            return true
        }
        // Closing TLS waits until the client has read everything, unless the system gives the connection up.
        g_socket_set_option(socket, gint(IPPROTO_TCP), TCP_USER_TIMEOUT, 10_000, nil)
        guard let secure = TLSHandshakes.stream(over: plain, certificate) else {
            connections.discount(connection)
            return true
        }
        defer { g_object_unref(secure) }
        connections.keep(connection, until: secure)
        handshakes.begin(connection, secure, socket) { [weak self] in
            connection.secured()
            self?.serve(connection, secure)
        }
        return true
    }

    private func serve(_ connection: ClientConnection, _ stream: UnsafeMutablePointer<GIOStream>) {
        guard !isStopped else { return }
        connection.allow(limits.requestTime)
        soup_server_accept_iostream(server, stream, connection.local, connection.remote, nil)
    }
}

// MARK: - Requests

extension HTTPFront {
    private func requestStarted(_ message: OpaquePointer?) {
        guard let message, let connection = connections.connection(of: message) else { return }
        connection.requestBegins()
        connection.allow(limits.requestTime)
        typealias GotChunk = @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void
        let gotChunk: GotChunk = { message, chunk, data in HTTPFront.from(data)?.gotChunk(message, chunk) }
        typealias WroteBody = @convention(c) (OpaquePointer?, gpointer?) -> Void
        let wroteBody: WroteBody = { message, data in HTTPFront.from(data)?.wroteBody(message) }
        for (name, signal) in [
            ("got-chunk", unsafeBitCast(gotChunk, to: GCallback.self)),
            ("wrote-body", unsafeBitCast(wroteBody, to: GCallback.self)),
        ] {
            shim_g_signal_connect(
                UnsafeMutableRawPointer(message), name, signal, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    private func gotHeaders(_ message: OpaquePointer?) {
        guard let message, let connection = connections.connection(of: message) else { return }
        let exchange = self.exchange(of: message, on: connection)
        // libsoup serves ranges by itself, no matter how many a request names.
        exchange.ignoreHeader("Range")
        if exchange.announcedLength < 0 || exchange.announcedLength > limits.body {
            refuse(exchange, on: connection)
        } else if let response = admit(exchange) {
            exchange.answer(response)
        }
    }

    /// Responds with 413, bypassing libsoup, which would read the whole body first. Closes a second later: if it closed
    /// at once, a client that is still sending would lose the response.
    private func refuse(_ exchange: HTTPExchange, on connection: ClientConnection) {
        exchange.pause()
        connection.sendAndShutdown("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        connection.allow(.seconds(1))
        connection.onDeadline = { [unowned self] in
            guard let stream = steal(exchange) else { return }
            connection.endSending()
            g_io_stream_close(stream, nil, nil)
            g_object_unref(stream)
        }
    }

    /// Counts the bytes of a body without an announced length, because libsoup would buffer all of it.
    private func gotChunk(_ message: OpaquePointer?, _ chunk: OpaquePointer?) {
        guard let message, let chunk, let connection = connections.connection(of: message) else { return }
        connection.bodyCount += Int(g_bytes_get_size(chunk))
        guard connection.bodyCount > limits.body, connection.onDeadline == nil else { return }
        refuse(exchange(of: message, on: connection), on: connection)
    }

    private func requestRead(_ message: OpaquePointer?) {
        guard let message, let connection = connections.connection(of: message) else { return }
        connection.allow(limits.answerTime)
    }

    private func gotRequest(_ message: OpaquePointer?) {
        guard let message, let connection = connections.connection(of: message) else { return }
        guard connection.bodyCount <= limits.body else { return }
        handle(exchange(of: message, on: connection))
    }

    private func requestFinished(_ message: OpaquePointer?) {
        guard let message, let connection = connections.connection(of: message) else { return }
        connection.isAnswered = true
        connection.allow(limits.idleTime)
        // Everything has been written, and libsoup closes the connection now.
        connection.endSending()
    }

    /// Takes the connection from libsoup after a response that isn't the last, and waits for another request.
    ///
    /// libsoup keeps only connections of its own listeners, and up to 3.2 it never lets go of one that its client
    /// closes between two requests.
    private func wroteBody(_ message: OpaquePointer?) {
        guard let message, let connection = connections.connection(of: message), connection.isKept, !isStopped,
            let stolen = soup_server_message_steal_connection(message)
        else { return }
        defer { g_object_unref(stolen) }
        connection.allow(limits.idleTime)
        connection.park(after: stolen, of: self) { [unowned connection] front in front.serveAgain(connection) }
    }

    private func serveAgain(_ connection: ClientConnection) {
        guard let idle = connection.unpark() else { return }
        // If the client only closes the connection, libsoup closes it too, and closing TLS waits for a client that
        // hasn't read everything. Who asks for more before that loses a connection.
        guard !connection.isSecured || !connection.hasUnacknowledgedData else { return connection.endSending() }
        serve(connection, idle.stream)
    }
}
