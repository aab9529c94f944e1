import CGLib
import Glibc

/// The TLS handshakes of new connections, so many at a time.
///
/// GLib has each of them wait in a thread of its pool, which is slow to grow. So one begins only when its client has said
/// something that TLS begins with, and who begins many and ends none keeps waiting those of his own address.
///
/// Belongs to the site's thread. A connection's deadline shuts its socket, and that ends its handshake.
final class TLSHandshakes {
    /// A connection on its way to being served.
    private final class Newcomer {
        let connection: ClientConnection
        /// The TLS stream, which has the plain one.
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
    /// Who has said nothing so far.
    private var silent: [ObjectIdentifier: Newcomer] = [:]
    /// Who has begun, and waits for a turn.
    private var queue: [Newcomer] = []
    /// Whose handshake is under way, by address.
    private var running: [String: Int] = [:]
    private var runningCount = 0

    init(limits: SignallingLimits, on context: OpaquePointer) {
        self.limits = limits
        self.context = context
    }

    /// The server's end of TLS over `plain`; nil where GLib can't make one.
    static func stream(
        over plain: UnsafeMutablePointer<GIOStream>, _ certificate: TLSCertificate
    ) -> UnsafeMutablePointer<GIOStream>? {
        guard let stream = g_tls_server_connection_new(plain, certificate.certificate, nil) else { return nil }
        let connection = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GTlsConnection.self)
        // A connection that was cut short ends like one without TLS: each message says how long it is.
        g_tls_connection_set_require_close_notify(connection, 0)
        return stream
    }

    /// Has `serve` done when the client of `connection` has shaken hands over `stream`.
    func begin(
        _ connection: ClientConnection, _ stream: UnsafeMutablePointer<GIOStream>,
        _ socket: UnsafeMutablePointer<GSocket>, serve: @escaping () -> Void
    ) {
        let newcomer = Newcomer(connection, stream, socket, serve: serve)
        connection.allow(limits.handshakeTime)
        newcomer.waiting = EventSource.accepting(socket, on: context) { [unowned self, unowned newcomer] in
            spoke(newcomer)
            return false
        }
        silent[ObjectIdentifier(newcomer)] = newcomer
    }

    /// Lets go of all who wait.
    func stop() {
        silent = [:]
        queue = []
    }

    private func spoke(_ newcomer: Newcomer) {
        guard silent.removeValue(forKey: ObjectIdentifier(newcomer)) != nil else { return }
        newcomer.waiting = nil
        var first: UInt8 = 0
        // An end, or a fault: letting go of the newcomer closes.
        guard recv(g_socket_get_fd(newcomer.socket), &first, 1, Int32(MSG_PEEK)) == 1 else { return }
        // A handshake record (RFC 8446 section 5.1), and no request.
        guard first == 0x16 else {
            newcomer.connection.sayLast(
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 33\r\n\r\n"
                    + "this port is for https:// alone.\n")
            return
        }
        queue.append(newcomer)
        next()
    }

    /// TLS 1.0 and 1.1 are out of use (RFC 8996); what the library speaks is the system's choice.
    private static func isNewEnough(_ connection: UnsafeMutablePointer<GTlsConnection>) -> Bool {
        g_tls_connection_get_protocol_version(connection).rawValue >= G_TLS_PROTOCOL_VERSION_TLS_1_2.rawValue
    }

    private func next() {
        var index = 0
        while runningCount < limits.handshakes, index < queue.count {
            let key = queue[index].connection.countedAs
            guard key.map({ running[$0, default: 0] < limits.handshakesPerAddress }) ?? true else {
                index += 1
                continue
            }
            run(queue.remove(at: index))
        }
    }

    private func run(_ newcomer: Newcomer) {
        let key = newcomer.connection.countedAs
        if let key { running[key, default: 0] += 1 }
        runningCount += 1
        newcomer.onEnd = { [weak self, unowned newcomer] isDone in
            if isDone { newcomer.serve() }
            guard let self else { return }
            runningCount -= 1
            if let key { running[key] = running[key].flatMap { $0 > 1 ? $0 - 1 : nil } }
            next()
        }
        g_tls_connection_handshake_async(
            UnsafeMutableRawPointer(newcomer.stream).assumingMemoryBound(to: GTlsConnection.self), G_PRIORITY_DEFAULT,
            nil,
            { source, result, data in
                guard let source, let data else { return }
                let newcomer = Unmanaged<Newcomer>.fromOpaque(data).takeRetainedValue()
                let connection = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GTlsConnection.self)
                let isDone = g_tls_connection_handshake_finish(connection, result, nil) != 0
                newcomer.onEnd(isDone && TLSHandshakes.isNewEnough(connection))
            }, Unmanaged.passRetained(newcomer).toOpaque())
    }
}
