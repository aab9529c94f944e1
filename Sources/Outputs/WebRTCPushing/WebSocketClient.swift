import CGLib
import MediaTypes
import OutputLife

/// A WebSocket of a `WebClient`, on whose thread it is used.
final class WebSocketClient {
    /// The longest message, and the most text that waits to be read: a server that sends more than is read is cut off.
    private static let messageLimit: guint64 = 256 << 10
    private static let waitingLimit = 1 << 20

    private let connection: OpaquePointer
    private let client: WebClient
    private var handlers: [gulong] = []
    private var messages: [String] = []
    private var waitingBytes = 0
    private var isClosed = false

    /// Takes over a connection, including one reference to it.
    init(taking connection: OpaquePointer, of client: WebClient) {
        (self.connection, self.client) = (connection, client)
        soup_websocket_connection_set_max_incoming_payload_size(connection, Self.messageLimit)
        let gotMessage: @convention(c) (gpointer?, gint, OpaquePointer?, gpointer?) -> Void = { _, _, bytes, data in
            guard let bytes, let data else { return }
            Unmanaged<WebSocketClient>.fromOpaque(data).takeUnretainedValue().take(bytes)
        }
        let ended: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            Unmanaged<WebSocketClient>.fromOpaque(data).takeUnretainedValue().isClosed = true
        }
        for (name, handler) in [
            ("message", unsafeBitCast(gotMessage, to: GCallback.self)),
            ("closed", unsafeBitCast(ended, to: GCallback.self)),
        ] {
            handlers.append(
                shim_g_signal_connect(
                    UnsafeMutableRawPointer(connection), name, handler, Unmanaged.passUnretained(self).toOpaque()))
        }
    }

    deinit {
        for handler in handlers { g_signal_handler_disconnect(UnsafeMutableRawPointer(connection), handler) }
        g_object_unref(UnsafeMutableRawPointer(connection))
    }

    private func take(_ bytes: OpaquePointer) {
        var count: gsize = 0
        let start = g_bytes_get_data(bytes, &count)
        guard waitingBytes + Int(count) <= Self.waitingLimit else {
            isClosed = true
            return
        }
        waitingBytes += Int(count)
        messages.append(String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self))
    }

    /// Sends a message.
    func send(_ text: String) throws(OutputFailure) {
        guard isOpen else { throw Self.ended }
        soup_websocket_connection_send_text(connection, text)
    }

    /// The next message; nil at the deadline, if `isOver`, or if the client must not wait any longer.
    func next(until deadline: MonotonicTime, orUntil isOver: () -> Bool = { false }) throws(OutputFailure) -> String? {
        client.run(until: deadline) { !messages.isEmpty || !isOpen || isOver() }
        guard !messages.isEmpty else {
            if !isOpen { throw Self.ended }
            return nil
        }
        let message = messages.removeFirst()
        waitingBytes -= message.utf8.count
        return message
    }

    /// Closes it, and waits for the other side's word.
    func close() {
        guard isOpen else { return }
        soup_websocket_connection_close(connection, gushort(SOUP_WEBSOCKET_CLOSE_NORMAL.rawValue), nil)
        client.run { isClosed }
    }

    private var isOpen: Bool {
        !isClosed && soup_websocket_connection_get_state(connection) == SOUP_WEBSOCKET_STATE_OPEN
    }

    private static let ended = OutputFailure("the server has ended the connection")
}
