import CGLib
import Clocks
import Glibc
import MediaTypes

/// Runs the TLS handshakes of new connections, a limited number at a time.
///
/// GLib blocks a thread of its pool for each handshake, and the pool grows slowly. So a handshake begins only when its
/// client has sent the start of a TLS record, and ``HandshakeTurns`` decides whose turn it is.
///
/// Belongs to the site's thread. When a connection's deadline passes, its socket is shut down, which ends its
/// handshake. The deadline starts again with the handshake: waiting for a turn isn't the client's fault.
final class TLSHandshakes {
    /// A connection whose handshake isn't complete.
    private final class PendingHandshake {
        let connection: ClientConnection
        /// The TLS stream, which owns the plain one.
        let stream: UnsafeMutablePointer<GIOStream>
        let socket: UnsafeMutablePointer<GSocket>
        let serve: () -> Void
        var waiting: EventSource?
        var onEnd: (Bool) -> Void = { _ in }

        init(
            _ connection: ClientConnection, _ stream: UnsafeMutablePointer<GIOStream>,
            _ socket: UnsafeMutablePointer<GSocket>, serve: @escaping () -> Void
        ) {
            self.connection = connection
            self.stream = stream
            self.socket = socket
            self.serve = serve
            g_object_ref(stream)
        }

        deinit {
            g_object_unref(stream)
        }
    }

    private let limits: SignallingLimits
    private let context: OpaquePointer
    /// Connections whose clients haven't sent anything.
    private var silent: [ObjectIdentifier: PendingHandshake] = [:]
    /// Connections whose clients have sent something, and whose handshakes wait for their turn, by their numbers.
    private var queue: [UInt64: PendingHandshake] = [:]
    /// The connections of running handshakes.
    private var running: [UInt64: ClientConnection] = [:]
    private var turns: HandshakeTurns

    init(limits: SignallingLimits, on context: OpaquePointer) {
        self.limits = limits
        self.context = context
        turns = HandshakeTurns(
            limit: limits.handshakes, limitOfAddress: limits.handshakesPerAddress, timeout: limits.handshakeTimeout)
    }

    /// Creates the server side of TLS over `plain`; nil if GLib can't.
    static func stream(
        over plain: UnsafeMutablePointer<GIOStream>, _ certificate: TLSCertificate
    ) -> UnsafeMutablePointer<GIOStream>? {
        guard let stream = g_tls_server_connection_new(plain, certificate.certificate, nil) else { return nil }
        let connection = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GTlsConnection.self)
        // A connection that ends without `close_notify` is treated like one without TLS: each message contains its own
        // length.
        g_tls_connection_set_require_close_notify(connection, 0)
        return stream
    }

    /// Calls `serve` once the client of `connection` has completed its handshake over `stream`.
    func begin(
        _ connection: ClientConnection, _ stream: UnsafeMutablePointer<GIOStream>,
        _ socket: UnsafeMutablePointer<GSocket>, serve: @escaping () -> Void
    ) {
        let pending = PendingHandshake(connection, stream, socket, serve: serve)
        connection.allow(limits.handshakeTime)
        pending.waiting = EventSource.accepting(socket, on: context, of: self) { [weak pending] handshakes in
            if let pending { handshakes.spoke(pending) }
            return false
        }
        silent[ObjectIdentifier(pending)] = pending
    }

    /// Drops all connections whose handshakes haven't begun.
    func stop() {
        silent = [:]
        for number in queue.keys { turns.end(number) }
        queue = [:]
    }

    private func spoke(_ pending: PendingHandshake) {
        guard silent.removeValue(forKey: ObjectIdentifier(pending)) != nil else { return }
        pending.waiting = nil
        var first: UInt8 = 0
        // If the client has closed the connection, or after an error, releasing the handshake closes the connection.
        guard recv(g_socket_get_fd(pending.socket), &first, 1, Int32(MSG_PEEK)) == 1 else { return }
        // A TLS handshake record (RFC 8446 section 5.1) starts with this byte; a plain HTTP request doesn't.
        guard first == 0x16 else {
            let text = "this port is only for https://.\n"
            pending.connection.sendAndShutdown(
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
                    + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
            return
        }
        pending.connection.deadline = .distantFuture
        queue[pending.connection.number] = pending
        let connection = pending.connection
        turns.add(connection.number, of: connection.countedAs == nil ? nil : connection.address)
        next()
    }

    /// Whether the connection uses TLS 1.2 or later. TLS 1.0 and 1.1 are deprecated (RFC 8996), but the system's
    /// configuration may let the library accept them.
    private static func isNewEnough(_ connection: UnsafeMutablePointer<GTlsConnection>) -> Bool {
        g_tls_connection_get_protocol_version(connection).rawValue >= G_TLS_PROTOCOL_VERSION_TLS_1_2.rawValue
    }

    /// Begins what may begin. Called from time to time too, since time may end a handshake for another one.
    func next() {
        while let step = turns.next(now: .now()) {
            switch step {
            case .begin(let number):
                if let pending = queue.removeValue(forKey: number) { run(pending) } else { turns.end(number) }
            case .end(let number): running[number]?.abort()
            }
        }
    }

    private func run(_ pending: PendingHandshake) {
        let connection = pending.connection
        connection.allow(limits.handshakeTime)
        running[connection.number] = connection
        pending.onEnd = { [weak self, serve = pending.serve, number = connection.number] isDone in
            if isDone { serve() }
            guard let self else { return }
            running[number] = nil
            turns.end(number)
            next()
        }
        g_tls_connection_handshake_async(
            UnsafeMutableRawPointer(pending.stream).assumingMemoryBound(to: GTlsConnection.self), G_PRIORITY_DEFAULT,
            nil,
            { source, result, data in
                guard let source, let data else { return }
                let pending = Unmanaged<PendingHandshake>.fromOpaque(data).takeRetainedValue()
                let connection = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GTlsConnection.self)
                let isDone = g_tls_connection_handshake_finish(connection, result, nil) != 0
                pending.onEnd(isDone && TLSHandshakes.isNewEnough(connection))
            }, Unmanaged.passRetained(pending).toOpaque())
    }
}
