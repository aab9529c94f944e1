import CGLib
import Clocks
import MediaTypes

/// A WebSocket to an external server: GLib connects and does TLS, with the certificates that `ServerTrust` accepts, and
/// frames are decoded like our own clients' frames, so that a server can't make us keep more than `limit` bytes.
///
/// It uses no proxy and follows no redirect: its messages may be secret, and are meant only for that server. It belongs
/// to the thread of its context.
package final class ClientWebSocket {
    package enum Event: Sendable, Equatable {
        case opened
        /// A message, text or binary.
        case message(String)
        /// It is over; the last event.
        case ended(WebSocketError)
    }

    private enum Phase {
        case connecting, shakingHands, open, ended
    }

    /// How often a ping is sent, and after what silence the server is given up.
    private static let pingTime = (every: Interval.seconds(15), most: Interval.seconds(35))
    /// The most bytes that the server may leave unread.
    private static let maxUnread = 1 << 20
    private static let chunksAtOnce = 4

    private let address: WebSocketAddress
    private let context: MainContext
    private let onEvent: (Event) -> Void
    private let cancellable: UnsafeMutablePointer<GCancellable>
    private var phase = Phase.connecting
    private var handshake: ClientHandshake
    private var decoder: WebSocketDecoder
    private var connection: UnsafeMutablePointer<GSocketConnection>?
    /// Belongs to the connection.
    private var stream: UnsafeMutablePointer<GIOStream>?
    private var reading: EventSource?
    private var writing: EventSource?
    private var ticking: EventSource?
    private var unsent: [UInt8] = []
    /// What shows TLS the authorities, and the connection that it was shown last.
    private var trust: ServerTrust?
    private var secured: UnsafeMutablePointer<GTlsConnection>?
    private var watching: gulong = 0
    private var lastHeard = MonotonicTime.now()
    private var lastPing = MonotonicTime.now()

    /// Prepares a connection; `connect` begins it.
    ///
    /// - Parameters:
    ///   - limit: the largest message that the server may send, in bytes, whether whole or in fragments.
    ///   - context: the calling thread's context, which is in use now.
    ///   - onEvent: called on the thread, at most until `close`.
    package init(
        to address: WebSocketAddress, limit: Int, on context: MainContext, onEvent: @escaping (Event) -> Void
    ) {
        self.address = address
        self.context = context
        self.onEvent = onEvent
        let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        handshake = ClientHandshake(to: address, nonce: nonce)
        decoder = WebSocketDecoder(limit: limit, isMasked: false)
        cancellable = g_cancellable_new()
    }

    deinit {
        if let connection { g_object_unref(connection) }
        if let secured { g_object_unref(UnsafeMutableRawPointer(secured)) }
        g_object_unref(cancellable)
    }

    /// Begins to connect. May be called once. How long that may take is the caller's business.
    package func connect() {
        guard let client = g_socket_client_new() else { return }
        defer { g_object_unref(client) }
        g_socket_client_set_enable_proxy(client, 0)
        if address.isSecure {
            trust = ServerTrust()
            guard trust != nil else { return fail(.unreachable(ServerTrust.unreadable)) }
            g_socket_client_set_tls(client, 1)
            watchTLS(of: client)
        }
        context.awaitCall()
        let connected: GAsyncReadyCallback = { client, result, data in
            guard let client, let result, let data else { return }
            Unmanaged<ClientWebSocket>.fromOpaque(data).takeRetainedValue().connected(
                UnsafeMutableRawPointer(client).assumingMemoryBound(to: GSocketClient.self), result)
        }
        let own = Unmanaged.passRetained(self).toOpaque()
        if let place = NumericPlace(address.host, port: address.port) {
            g_socket_client_connect_async(client, place.pointer, cancellable, connected, own)
        } else {
            g_socket_client_connect_to_host_async(client, address.host, address.port, cancellable, connected, own)
        }
    }

    /// Has each connection checked before its handshake, until `connected`, before which this object isn't released.
    private func watchTLS(of client: UnsafeMutablePointer<GSocketClient>) {
        let happens: @convention(c) (gpointer?, GSocketClientEvent, gpointer?, gpointer?, gpointer?) -> Void = {
            _, event, _, stream, data in
            guard event == G_SOCKET_CLIENT_TLS_HANDSHAKING, let stream, let data else { return }
            let socket = Unmanaged<ClientWebSocket>.fromOpaque(data).takeUnretainedValue()
            let connection = stream.assumingMemoryBound(to: GTlsConnection.self)
            g_object_ref(stream)
            if let before = socket.secured { g_object_unref(UnsafeMutableRawPointer(before)) }
            socket.secured = connection
            socket.trust?.check(connection)
        }
        watching = shim_g_signal_connect(
            UnsafeMutableRawPointer(client), "event", unsafeBitCast(happens, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// Sends a text message; does nothing unless it is open.
    package func send(_ text: String) {
        guard phase == .open else { return }
        queue(WebSocketFrame.text(text))
    }

    /// Ends the connection without another event: sends queued data, if the server accepts it at once, and a close
    /// frame.
    package func close() {
        guard phase != .ended else { return }
        if phase == .open { queue(WebSocketFrame.close(1000)) }
        end()
    }

    private func connected(_ client: UnsafeMutablePointer<GSocketClient>, _ result: OpaquePointer) {
        context.gotCall()
        if watching > 0 { g_signal_handler_disconnect(UnsafeMutableRawPointer(client), watching) }
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        let made = g_socket_client_connect_finish(client, result, &error)
        guard phase == .connecting else {
            if let made { g_object_unref(made) }
            return
        }
        guard let made, let stream = shim_stream_of_connection(made), let input = g_io_stream_get_input_stream(stream)
        else {
            let reason = reason(error)
            return fail(error.map(isRefusedConnection) == true ? .nobodyListens(reason) : .unreachable(reason))
        }
        connection = made
        self.stream = stream
        phase = .shakingHands
        reading = EventSource.readable(input, on: context.pointer, of: self) { $0.readAll() }
        write(handshake.request)
    }

    /// Why there is no connection. Of certificates, the error reports only that they are unacceptable.
    private func reason(_ error: UnsafeMutablePointer<GError>?) -> String {
        guard let error else { return "no connection" }
        let isCertificate = g_error_matches(error, g_tls_error_quark(), gint(G_TLS_ERROR_BAD_CERTIFICATE.rawValue)) != 0
        guard isCertificate, let secured else { return String(cString: error.pointee.message) }
        return ServerTrust.fault(g_tls_connection_get_peer_certificate_errors(secured))
    }

    private func opened() {
        phase = .open
        ticking = EventSource.timer(every: .seconds(5), on: context.pointer, of: self) { socket in
            socket.tick()
            return true
        }
        onEvent(.opened)
    }

    private func tick() {
        let now = MonotonicTime.now()
        if now - lastHeard > Self.pingTime.most { return fail(.silent) }
        guard now - lastPing >= Self.pingTime.every else { return }
        lastPing = now
        queue(WebSocketFrame.ping())
    }

    private func fail(_ failure: WebSocketError) {
        guard phase != .ended else { return }
        end()
        onEvent(.ended(failure))
    }

    private func end() {
        phase = .ended
        g_cancellable_cancel(cancellable)
        (reading, writing, ticking) = (nil, nil, nil)
        unsent = []
        guard let connection, let stream else { return }
        // Else closing TLS waits for the server.
        shim_end_sending(stream)
        g_io_stream_close(UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GIOStream.self), nil, nil)
    }
}

// MARK: - Reading

extension ClientWebSocket {
    /// Reads available data, up to a limit so that other connections on the thread get their turn. Returns false once
    /// this connection is over.
    private func readAll() -> Bool {
        guard let stream, let input = g_io_stream_get_input_stream(stream) else { return false }
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        for _ in 0..<Self.chunksAtOnce where phase != .ended {
            var error: UnsafeMutablePointer<GError>?
            let count = g_pollable_input_stream_read_nonblocking(
                OpaquePointer(input), &chunk, gsize(chunk.count), nil, &error)
            if count < 0, mustWait(&error) { return true }
            guard count > 0 else {
                fail(.closed(code: nil))
                return false
            }
            lastHeard = .now()
            take(chunk.prefix(count))
        }
        return phase != .ended
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        do throws(WebSocketError) {
            if phase == .shakingHands {
                guard let rest = try handshake.take(bytes) else { return }
                decoder.append(rest)
                opened()
            } else {
                decoder.append(bytes)
            }
            try takeFrames()
        } catch {
            fail(error)
        }
    }

    private func takeFrames() throws(WebSocketError) {
        do throws(WebSocketDecoder.FrameError) {
            while phase == .open, let event = try decoder.next() {
                switch event {
                case .message(let bytes):
                    guard let text = String(validating: bytes, as: UTF8.self) else {
                        return fail(.fault("the server sent something else than text"))
                    }
                    onEvent(.message(text))
                case .ping(let payload): queue(WebSocketFrame.pong(payload))
                case .pong: break
                case .close(let code):
                    queue(WebSocketFrame.close(1000))
                    fail(.closed(code: code))
                }
            }
        } catch {
            throw .fault(
                error == .tooLarge
                    ? "the server sent a message of more than \(decoder.limit) bytes"
                    : "the server broke the rules of WebSocket")
        }
    }
}

// MARK: - Writing

extension ClientWebSocket {
    private func queue(_ frame: [UInt8]) {
        write(WebSocketFrame.masked(frame, key: UInt32.random(in: .min ... .max)))
    }

    private func write(_ bytes: [UInt8]) {
        guard phase != .ended else { return }
        guard unsent.count + bytes.count <= Self.maxUnread else { return fail(.fault("the server reads nothing")) }
        unsent += bytes
        if writing == nil { writeAll() }
    }

    /// Writes queued data, and waits for space if there is more. Returns false if there is nothing to wait for.
    @discardableResult
    private func writeAll() -> Bool {
        guard let stream, let output = g_io_stream_get_output_stream(stream) else { return false }
        var start = 0
        while start < unsent.count {
            var error: UnsafeMutablePointer<GError>?
            let count = unsent.withUnsafeBytes { bytes in
                g_pollable_output_stream_write_nonblocking(
                    OpaquePointer(output), bytes.baseAddress?.advanced(by: start), gsize(bytes.count - start), nil,
                    &error)
            }
            if count < 0 {
                guard mustWait(&error) else {
                    fail(.closed(code: nil))
                    return false
                }
                unsent.removeFirst(start)
                if writing == nil {
                    writing = EventSource.writable(output, on: context.pointer, of: self) { $0.writeAll() }
                }
                return true
            }
            start += count
        }
        unsent = []
        writing = nil
        return false
    }
}
