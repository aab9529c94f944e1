import ByteCoding
import CGLib
import FoundationEssentials
import OutputLife
import Signalling

/// A client of HTTP for an attempt, on whose thread it is used and waits: it does one thing after another.
///
/// It takes no proxy and follows no redirect, and accepts the certificates that `ServerTrust` does. No request goes to
/// an address nearer to this machine than that of the first one: a server must not choose what is reached behind a
/// firewall.
final class WebClient {
    /// The largest answer that is read, in bytes.
    static let bodyLimit = 256 << 10

    private let context: CancellableContext
    private let trust: ServerTrust
    /// The nearest address that requests may go to; nil for the first one.
    var nearest: Nearness?
    /// Whether the last request failed because the server closed the connection instead of answering.
    private(set) var hasNoAnswer = false

    /// A client for the calling thread, which must also release it.
    init(_ context: CancellableContext) throws(OutputError) {
        guard let trust = ServerTrust() else { throw OutputError(ServerTrust.unreadable) }
        self.context = context
        self.trust = trust
    }

    /// What a server has answered so far: its body is still to be read. Released, it is given up.
    final class Answer {
        fileprivate let message: Message
        fileprivate let stream: UnsafeMutablePointer<GInputStream>

        /// Takes over one reference to the stream.
        fileprivate init(_ message: Message, _ stream: UnsafeMutablePointer<GInputStream>) {
            self.message = message
            self.stream = stream
        }

        deinit { g_object_unref(stream) }

        var status: UInt32 { soup_message_get_status(message.pointer).rawValue }
        var location: String? { header("Location") }
        var retryAfter: String? { header("Retry-After") }
        /// Whether our own host asks for the room's password, or for another one.
        var wantsPassword: Bool { header("X-Room-Password") != nil }
        /// All `Link` headers, joined by commas.
        var links: String? {
            soup_message_headers_get_list(soup_message_get_response_headers(message.pointer), "Link").map {
                String(cString: $0)
            }
        }

        private func header(_ name: String) -> String? {
            soup_message_headers_get_one(soup_message_get_response_headers(message.pointer), name).map {
                String(cString: $0)
            }
        }
    }

    /// Sends a request, and follows no redirect. `password` is that of a room, and `body` an SDP description.
    func request(
        _ method: String, _ url: String, token: String?, password: String? = nil, body: String? = nil
    ) throws(OutputError) -> Answer {
        let message = try message(method, url, token: token)
        if let password {
            soup_message_headers_replace(
                soup_message_get_request_headers(message.pointer), "X-Room-Password", PercentCoding.encode(password))
        }
        soup_message_add_flags(message.pointer, SOUP_MESSAGE_NO_REDIRECT)
        if let body {
            let bytes = Array(body.utf8)
            let wrapped = g_bytes_new(bytes, gsize(bytes.count))
            soup_message_set_request_body_from_bytes(message.pointer, "application/sdp", wrapped)
            g_bytes_unref(wrapped)
        }
        let result = complete {
            soup_session_send_async(message.session, message.pointer, G_PRIORITY_DEFAULT, $0, asyncCallback, $1)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(result)) }
        var error: UnsafeMutablePointer<GError>?
        let stream = soup_session_send_finish(message.session, result, &error)
        nearest = nearest ?? message.nearness
        hasNoAnswer = stream == nil && message.isUnanswered(error)
        guard let stream else { throw message.failure(&error) }
        return Answer(message, stream)
    }

    /// Reads the body of an answer. May be called once.
    func body(of answer: Answer, limit: Int = bodyLimit) throws(OutputError) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let result = complete {
                g_input_stream_read_bytes_async(answer.stream, 16 << 10, G_PRIORITY_DEFAULT, $0, asyncCallback, $1)
            }
            defer { g_object_unref(UnsafeMutableRawPointer(result)) }
            var error: UnsafeMutablePointer<GError>?
            guard let bytes = g_input_stream_read_bytes_finish(answer.stream, result, &error) else {
                throw answer.message.failure(&error)
            }
            defer { g_bytes_unref(bytes) }
            var count: gsize = 0
            guard let start = g_bytes_get_data(bytes, &count), count > 0 else { return body }
            guard body.count + Int(count) <= limit else { throw OutputError("its answer is too long") }
            body += UnsafeRawBufferPointer(start: start, count: Int(count))
        }
    }

    // MARK: Waiting for libsoup

    private final class Completion {
        var result: OpaquePointer?
    }

    /// Starts an asynchronous call, and returns its result, which the caller owns. If the attempt must not wait any
    /// longer, the call is cancelled, and its result says so.
    private func complete(
        _ start: (_ cancellable: UnsafeMutablePointer<GCancellable>?, _ data: gpointer) -> Void
    ) -> OpaquePointer {
        let completion = Completion()
        let cancellable = g_cancellable_new()
        defer { g_object_unref(cancellable) }
        start(cancellable, Unmanaged.passRetained(completion).toOpaque())
        while true {
            if let result = completion.result { return result }
            guard !context.run({ completion.result != nil }) else { continue }
            g_cancellable_cancel(cancellable)
            // What is cancelled calls back all the same, and soon.
            while completion.result == nil { context.main.iterate() }
        }
    }

    /// Takes the result of an asynchronous call.
    fileprivate static func completed(_ result: OpaquePointer?, _ data: gpointer?) {
        guard let result, let data else { return }
        g_object_ref(UnsafeMutableRawPointer(result))
        Unmanaged<Completion>.fromOpaque(data).takeRetainedValue().result = result
    }

    // MARK: Messages

    /// A request, the session that sends it, and the name of its server for people. Each request has a connection of
    /// its own, which ends with it.
    fileprivate final class Message {
        let pointer: OpaquePointer
        let session: UnsafeMutablePointer<SoupSession>
        /// How near its server is; nil before it is connected.
        private(set) var nearness: Nearness?
        private let host: String
        private let nearest: Nearness?
        private var isTooNear = false
        /// Whether the request can go, over TLS if that is needed.
        private var isConnected = false
        private var handler: gulong = 0

        /// Takes over one reference to the request.
        init(_ pointer: OpaquePointer, to server: URLComponents?, _ trust: ServerTrust, nearest: Nearness?) {
            self.pointer = pointer
            self.nearest = nearest
            let host = server?.host ?? "the server"
            self.host = host
            let port = server?.port ?? (server?.scheme?.lowercased() == "https" ? 443 : 80)
            let place = UInt16(exactly: port).flatMap { NumericPlace(host, port: $0) }
            session = shim_soup_session_new_direct(0, place?.pointer)
            trust.check(session)
            typealias Signal = @convention(c) (OpaquePointer?, GSocketClientEvent, OpaquePointer?, gpointer?) -> Void
            let connected: Signal = { _, event, connection, data in
                guard let connection, let data else { return }
                let message = Unmanaged<Message>.fromOpaque(data).takeUnretainedValue()
                if event == G_SOCKET_CLIENT_CONNECTED { message.connected(connection) }
                if event == G_SOCKET_CLIENT_COMPLETE { message.isConnected = true }
            }
            handler = shim_g_signal_connect(
                UnsafeMutableRawPointer(pointer), "network-event", unsafeBitCast(connected, to: GCallback.self),
                Unmanaged.passUnretained(self).toOpaque())
        }

        deinit {
            g_signal_handler_disconnect(UnsafeMutableRawPointer(pointer), handler)
            g_object_unref(UnsafeMutableRawPointer(pointer))
            soup_session_abort(session)
            g_object_unref(session)
        }

        /// Closes a connection to an address that is too near, before anything is sent over it.
        private func connected(_ connection: OpaquePointer) {
            let address = shim_remote_host(UnsafeMutableRawPointer(connection))
            defer { g_free(address) }
            let nearness = Nearness(address.map { String(cString: $0) } ?? "")
            self.nearness = nearness
            guard let nearest, nearness > nearest else { return }
            isTooNear = true
            shim_close_socket(UnsafeMutableRawPointer(connection))
        }

        /// Whether the error is that the server has closed the connection, over which the request has gone.
        func isUnanswered(_ error: UnsafeMutablePointer<GError>?) -> Bool {
            guard isConnected, !isTooNear, let error else { return false }
            return [G_IO_ERROR_PARTIAL_INPUT, G_IO_ERROR_CONNECTION_CLOSED].contains {
                g_error_matches(error, shim_g_io_error_quark(), gint($0.rawValue)) != 0
            }
        }

        /// Why it failed, in words; frees the error.
        func failure(_ error: inout UnsafeMutablePointer<GError>?) -> OutputError {
            defer { g_clear_error(&error) }
            if isTooNear { return OutputError("the server redirects to an address of this machine or its network") }
            let errors = soup_message_get_tls_peer_certificate_errors(pointer)
            if errors.rawValue != 0 { return OutputError(ServerTrust.fault(errors)) }
            guard let error else { return OutputError("\(host) can't be reached") }
            return OutputError(String(cString: error.pointee.message), foundNobody: isRefusedConnection(error))
        }
    }

    private func message(_ method: String, _ url: String, token: String?) throws(OutputError) -> Message {
        guard let pointer = soup_message_new(method, url) else {
            throw OutputError("its URL can't be used", isFinal: true)
        }
        let message = Message(pointer, to: URLComponents(string: url), trust, nearest: nearest)
        if let token {
            soup_message_headers_replace(
                soup_message_get_request_headers(pointer), "Authorization", "Bearer \(token)")
        }
        return message
    }
}

private func asyncCallback(_: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: gpointer?) {
    WebClient.completed(result, data)
}
