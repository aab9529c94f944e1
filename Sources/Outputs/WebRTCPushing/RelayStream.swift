import CGLib
import Glibc
import Signalling

/// A connection to a TURN server, over TCP or TLS, on the thread that makes it. Connecting blocks; reading and writing
/// don't.
final class RelayStream {
    /// Why there is no connection, in words.
    struct StreamError: Error {
        let reason: String
    }

    /// How long each step of connecting may take, in seconds.
    private static let timeout: guint = 3

    private let connection: UnsafeMutablePointer<GSocketConnection>
    private let stream: UnsafeMutablePointer<GIOStream>
    /// For `poll`.
    let descriptor: Int32

    /// What is checked while it connects.
    private final class Watch {
        let trust: ServerTrust
        let nearest: Nearness
        var isTooNear = false

        init(_ trust: ServerTrust, _ nearest: Nearness) { (self.trust, self.nearest) = (trust, nearest) }

        func happens(_ event: GSocketClientEvent, _ stream: gpointer) {
            switch event {
            case G_SOCKET_CLIENT_CONNECTED:
                let address = shim_remote_host(stream)
                defer { g_free(address) }
                guard Nearness(address.map { String(cString: $0) } ?? "") > nearest else { return }
                isTooNear = true
                shim_close_socket(stream)
            case G_SOCKET_CLIENT_TLS_HANDSHAKING:
                trust.check(stream.assumingMemoryBound(to: GTlsConnection.self))
            default: break
            }
        }
    }

    /// Connects to `server`, unless `cancellable` ends that. Nothing is sent to an address nearer than `nearest`.
    init(_ server: NamedServers.Relay, nearest: Nearness, _ cancellable: UnsafeMutablePointer<GCancellable>)
        throws(StreamError)
    {
        GLibTypes.make()
        guard let trust = ServerTrust() else { throw StreamError(reason: ServerTrust.unreadable) }
        guard let client = g_socket_client_new() else { throw StreamError(reason: "no memory") }
        defer { g_object_unref(client) }
        g_socket_client_set_enable_proxy(client, 0)
        g_socket_client_set_timeout(client, Self.timeout)
        if server.hasTLS { g_socket_client_set_tls(client, 1) }
        let watch = Watch(trust, nearest)
        let happens: @convention(c) (gpointer?, GSocketClientEvent, gpointer?, gpointer?, gpointer?) -> Void = {
            _, event, _, stream, data in
            guard let stream, let data else { return }
            Unmanaged<Watch>.fromOpaque(data).takeUnretainedValue().happens(event, stream)
        }
        let signal = shim_g_signal_connect(
            UnsafeMutableRawPointer(client), "event", unsafeBitCast(happens, to: GCallback.self),
            Unmanaged.passUnretained(watch).toOpaque())
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        let made = withExtendedLifetime(watch) {
            defer { g_signal_handler_disconnect(UnsafeMutableRawPointer(client), signal) }
            return g_socket_client_connect_to_host(client, server.host, server.port, cancellable, &error)
        }
        guard let made, let stream = shim_stream_of_connection(made), let socket = g_socket_connection_get_socket(made)
        else {
            if let made { g_object_unref(made) }
            let words = error.map { String(cString: $0.pointee.message) } ?? "no connection"
            throw StreamError(reason: watch.isTooNear ? "it is an address of this machine or its network" : words)
        }
        connection = made
        self.stream = stream
        g_socket_set_timeout(socket, 0)
        descriptor = g_socket_get_fd(socket)
        // Old pictures must not queue in the kernel, and small packets not wait.
        var (unsent, isOn) = (Self.unsentLimit, Int32(1))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &unsent, socklen_t(MemoryLayout<Int32>.size))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// As of the media's own TCP connections.
    private static let unsentLimit: Int32 = 16 << 10

    deinit {
        shim_end_sending(stream)
        g_io_stream_close(stream, nil, nil)
        g_object_unref(connection)
    }

    /// Reads what is there: the number of bytes, 0 if there are none now; nil once it is over.
    func read(into buffer: inout [UInt8]) -> Int? {
        guard let input = g_io_stream_get_input_stream(stream) else { return nil }
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        let count = g_pollable_input_stream_read_nonblocking(
            OpaquePointer(input), &buffer, gsize(buffer.count), nil, &error)
        if count > 0 { return Int(count) }
        return count < 0 && isWait(error) ? 0 : nil
    }

    /// Writes as much of `bytes` as there is room for, and removes it; false once it is over.
    func write(_ bytes: inout [UInt8]) -> Bool {
        guard let output = g_io_stream_get_output_stream(stream) else { return false }
        var start = 0
        defer { bytes.removeFirst(start) }
        while start < bytes.count {
            var error: UnsafeMutablePointer<GError>?
            defer { g_clear_error(&error) }
            let count = bytes.withUnsafeBytes { raw in
                g_pollable_output_stream_write_nonblocking(
                    OpaquePointer(output), raw.baseAddress?.advanced(by: start), gsize(raw.count - start), nil, &error)
            }
            guard count > 0 else { return isWait(error) }
            start += Int(count)
        }
        return true
    }

    private func isWait(_ error: UnsafeMutablePointer<GError>?) -> Bool {
        g_error_matches(error, shim_g_io_error_quark(), gint(G_IO_ERROR_WOULD_BLOCK.rawValue)) != 0
    }
}
