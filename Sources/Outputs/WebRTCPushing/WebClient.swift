import CGLib
import Clocks
import Foundation
import MediaTypes
import OutputLife
import Synchronization

/// What other threads tell a `WebClient`, and what they do to it.
final class WebClientSignal: @unchecked Sendable {
    private struct State {
        var isClosing = false
        var isAbandoned = false
    }

    /// GLib allows any thread to wake it.
    fileprivate let context: OpaquePointer
    private let state = Mutex(State())

    init() { context = g_main_context_new() }

    deinit { g_main_context_unref(context) }

    /// Whether it is to end as its protocol says.
    var isClosing: Bool { state.withLock { $0.isClosing } }
    /// Whether nobody waits for it any more.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func close() {
        state.withLock { $0.isClosing = true }
        g_main_context_wakeup(context)
    }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
        g_main_context_wakeup(context)
    }
}

/// A client of HTTP and WebSockets for one thread, which does one thing after another and can be told to stop at any
/// time.
///
/// It takes no proxy. A certificate must be for the host's name, and come from an authority of the system's store, or
/// of the file that SSL_CERT_FILE names.
final class WebClient {
    /// The largest answer that is read, in bytes.
    static let bodyLimit = 256 << 10

    private let signal: WebClientSignal
    private let session: UnsafeMutablePointer<SoupSession>
    /// When saying goodbye must be over, which an abandoned client does as well; nil before.
    private var farewellEnd: MonotonicTime?

    /// A client for the calling thread, which must also release it.
    init(_ signal: WebClientSignal) throws(OutputFailure) {
        self.signal = signal
        g_main_context_push_thread_default(signal.context)
        session = shim_soup_session_new_direct(0)
        if let file = getenv("SSL_CERT_FILE"), file.pointee != 0 {
            let path = g_canonicalize_filename(file, nil)
            defer { g_free(path) }
            guard let database = g_tls_file_database_new(path, nil) else {
                throw OutputFailure("the file that SSL_CERT_FILE names can't be read")
            }
            soup_session_set_tls_database(session, database)
            g_object_unref(UnsafeMutableRawPointer(database))
        }
    }

    deinit {
        soup_session_abort(session)
        g_object_unref(session)
        // Lets libsoup finish its work on closed connections.
        while g_main_context_iteration(signal.context, 0) != 0 {}
        g_main_context_pop_thread_default(signal.context)
    }

    /// From here on, what is done must be over after `time`, and an abandoned client does it as well.
    func beginFarewell(within time: Interval) { farewellEnd = MonotonicTime.now() + time }

    /// Runs what comes until `isDone` or the deadline, or until the client is abandoned or its farewell over. Returns
    /// whether it is done.
    @discardableResult
    func run(until deadline: MonotonicTime = .distantFuture, _ isDone: () -> Bool) -> Bool {
        while !isDone() {
            let end = min(deadline, farewellEnd ?? .distantFuture)
            let now = MonotonicTime.now()
            if now >= end || farewellEnd == nil && signal.isAbandoned { return false }
            let timer = g_timeout_source_new(guint(clamping: min(end - now, .seconds(3600)).milliseconds + 1))
            g_source_set_callback(timer, { _ in 0 }, nil, nil)
            g_source_attach(timer, signal.context)
            g_main_context_iteration(signal.context, 1)
            g_source_destroy(timer)
            g_source_unref(timer)
        }
        return true
    }

    // MARK: HTTP

    /// What a server has answered.
    struct Answer {
        var status: UInt32
        var location: String?
        var retryAfter: String?
        var body: [UInt8]
    }

    /// Sends a request, and follows no redirect. `body` is an SDP description.
    func request(
        _ method: String, _ url: String, token: String?, body: String? = nil
    ) throws(OutputFailure) -> Answer {
        let message = try message(method, url, token: token)
        defer { g_object_unref(UnsafeMutableRawPointer(message.pointer)) }
        soup_message_add_flags(message.pointer, SOUP_MESSAGE_NO_REDIRECT)
        if let body {
            let bytes = Array(body.utf8)
            let wrapped = g_bytes_new(bytes, gsize(bytes.count))
            soup_message_set_request_body_from_bytes(message.pointer, "application/sdp", wrapped)
            g_bytes_unref(wrapped)
        }
        let result = complete {
            soup_session_send_async(session, message.pointer, G_PRIORITY_DEFAULT, $0, asyncCallback, $1)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(result)) }
        var error: UnsafeMutablePointer<GError>?
        guard let stream = soup_session_send_finish(session, result, &error) else {
            throw message.failure(&error)
        }
        defer { g_object_unref(stream) }
        let read = try readAll(stream, message)
        func header(_ name: String) -> String? {
            soup_message_headers_get_one(soup_message_get_response_headers(message.pointer), name).map {
                String(cString: $0)
            }
        }
        return Answer(
            status: soup_message_get_status(message.pointer).rawValue, location: header("Location"),
            retryAfter: header("Retry-After"), body: read)
    }

    private func readAll(
        _ stream: UnsafeMutablePointer<GInputStream>, _ message: Message
    ) throws(OutputFailure) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let result = complete {
                g_input_stream_read_bytes_async(stream, 16 << 10, G_PRIORITY_DEFAULT, $0, asyncCallback, $1)
            }
            defer { g_object_unref(UnsafeMutableRawPointer(result)) }
            var error: UnsafeMutablePointer<GError>?
            guard let bytes = g_input_stream_read_bytes_finish(stream, result, &error) else {
                throw message.failure(&error)
            }
            defer { g_bytes_unref(bytes) }
            var count: gsize = 0
            guard let start = g_bytes_get_data(bytes, &count), count > 0 else { return body }
            guard body.count + Int(count) <= Self.bodyLimit else { throw OutputFailure("its answer is too long") }
            body += UnsafeRawBufferPointer(start: start, count: Int(count))
        }
    }

    // MARK: WebSockets

    /// Connects to `url`, of HTTP, with the subprotocol `name`.
    func connectWebSocket(_ url: String, protocol name: String) throws(OutputFailure) -> WebSocketClient {
        let message = try message("GET", url, token: nil)
        defer { g_object_unref(UnsafeMutableRawPointer(message.pointer)) }
        // Else a server could send the secrets that follow to a place without TLS.
        soup_message_add_flags(message.pointer, SOUP_MESSAGE_NO_REDIRECT)
        let copy = strdup(name)
        defer { free(copy) }
        var protocols = [copy, nil]
        let result = complete { cancellable, data in
            soup_session_websocket_connect_async(
                session, message.pointer, nil, &protocols, G_PRIORITY_DEFAULT, cancellable, asyncCallback, data)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(result)) }
        var error: UnsafeMutablePointer<GError>?
        guard let connection = soup_session_websocket_connect_finish(session, result, &error) else {
            let status = soup_message_get_status(message.pointer).rawValue
            let failure = message.failure(&error)
            switch status {
            case 401, 403: throw OutputFailure("the server refuses this client (\(status))", isFinal: true)
            case 1...:
                throw OutputFailure("there is no WebSocket of that kind at this address (\(status))")
            default: throw failure
            }
        }
        return WebSocketClient(taking: connection, of: self)
    }

    // MARK: Waiting for libsoup

    private final class Completion {
        var result: OpaquePointer?
    }

    /// Starts an asynchronous call, and returns its result, which the caller owns. If the client must not wait any
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
            guard !run({ completion.result != nil }) else { continue }
            g_cancellable_cancel(cancellable)
            // What is cancelled calls back all the same, and soon.
            while completion.result == nil { g_main_context_iteration(signal.context, 1) }
        }
    }

    /// Takes the result of an asynchronous call.
    fileprivate static func completed(_ result: OpaquePointer?, _ data: gpointer?) {
        guard let result, let data else { return }
        g_object_ref(UnsafeMutableRawPointer(result))
        Unmanaged<Completion>.fromOpaque(data).takeRetainedValue().result = result
    }

    // MARK: Messages

    /// A request with what its server's certificate lacks.
    private final class Message {
        let pointer: OpaquePointer
        fileprivate var certificateErrors: GTlsCertificateFlags.RawValue = 0
        private let host: String

        init(_ pointer: OpaquePointer, host: String) {
            (self.pointer, self.host) = (pointer, host)
        }

        var isUntrusted: Bool { certificateErrors != 0 }

        /// Why it failed, in words; frees the error.
        func failure(_ error: inout UnsafeMutablePointer<GError>?) -> OutputFailure {
            defer { g_clear_error(&error) }
            if certificateErrors & G_TLS_CERTIFICATE_UNKNOWN_CA.rawValue == 0,
                certificateErrors & G_TLS_CERTIFICATE_BAD_IDENTITY.rawValue != 0
            {
                return OutputFailure("its certificate is for another name")
            }
            if isUntrusted { return OutputFailure("its certificate is not trusted") }
            return OutputFailure(error.map { String(cString: $0.pointee.message) } ?? "\(host) can't be reached")
        }
    }

    private func message(_ method: String, _ url: String, token: String?) throws(OutputFailure) -> Message {
        guard let pointer = soup_message_new(method, url) else {
            throw OutputFailure("its URL can't be used", isFinal: true)
        }
        let message = Message(pointer, host: URLComponents(string: url)?.host ?? "the server")
        if let token {
            soup_message_headers_replace(
                soup_message_get_request_headers(pointer), "Authorization", "Bearer \(token)")
        }
        let check: @convention(c) (gpointer?, gpointer?, GTlsCertificateFlags, gpointer?) -> gboolean = {
            _, _, errors, data in
            guard let data else { return 0 }
            Unmanaged<Message>.fromOpaque(data).takeUnretainedValue().certificateErrors = errors.rawValue
            return 0
        }
        // The callers keep the request for as long as libsoup has it.
        _ = shim_g_signal_connect(
            UnsafeMutableRawPointer(pointer), "accept-certificate", unsafeBitCast(check, to: GCallback.self),
            Unmanaged.passUnretained(message).toOpaque())
        return message
    }
}

private func asyncCallback(_: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: gpointer?) {
    WebClient.completed(result, data)
}
