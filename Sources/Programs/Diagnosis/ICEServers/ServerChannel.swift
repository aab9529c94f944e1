import CGLib
import STUN
import Signalling

/// A connection to a STUN or TURN server, over UDP, TCP or TLS (RFC 8489 section 6.2). Every call may block for a few
/// seconds.
final class ServerChannel {
    /// Why a server can't be asked.
    enum ChannelError: Error, Equatable {
        /// The name is unknown, nothing answers there, or the way there is closed; in the system's words.
        case unreachable(String)
        /// The server's certificate isn't trusted; in GLib's words.
        case certificate(String)
        /// Something answers, but not in STUN.
        case notSTUN
    }

    private let client: UnsafeMutablePointer<GSocketClient>
    private let connection: UnsafeMutablePointer<GSocketConnection>
    private let isDatagram: Bool
    /// How often a request is sent over UDP, a second apart.
    private static let attempts = 3

    /// Connects to the server as a client would.
    init(_ server: ICEServer) throws(ChannelError) {
        isDatagram = server.scheme != .turns && server.transport != .tcp
        GLibTypes.make()
        client = g_socket_client_new()
        g_socket_client_set_enable_proxy(client, 0)
        g_socket_client_set_timeout(client, isDatagram ? 1 : 3)
        if isDatagram {
            g_socket_client_set_socket_type(client, G_SOCKET_TYPE_DATAGRAM)
            g_socket_client_set_protocol(client, G_SOCKET_PROTOCOL_UDP)
        }
        if server.scheme == .turns { g_socket_client_set_tls(client, 1) }
        var error: UnsafeMutablePointer<GError>?
        let place = "\(server.host):\(server.port)"
        guard let connection = g_socket_client_connect_to_host(client, place, guint16(server.port), nil, &error) else {
            g_object_unref(client)
            throw Self.problem(&error)
        }
        self.connection = connection
    }

    deinit {
        g_io_stream_close(stream, nil, nil)
        g_object_unref(connection)
        g_object_unref(client)
    }

    /// Sends `request`, which has this identifier, and waits for its response.
    func ask(_ request: [UInt8], _ identifier: STUNMessage.TransactionID) throws(ChannelError) -> STUNMessage {
        var last = ChannelError.unreachable("no answer")
        for _ in 0..<(isDatagram ? Self.attempts : 1) {
            try send(request)
            do throws(ChannelError) {
                return try response(identifier)
            } catch .unreachable(let reason) {
                last = .unreachable(reason)
            }
        }
        throw last
    }

    private var stream: UnsafeMutablePointer<GIOStream> {
        UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GIOStream.self)
    }

    private func send(_ bytes: [UInt8]) throws(ChannelError) {
        var error: UnsafeMutablePointer<GError>?
        var written: gsize = 0
        let output = g_io_stream_get_output_stream(stream)
        guard g_output_stream_write_all(output, bytes, gsize(bytes.count), &written, nil, &error) != 0 else {
            throw Self.problem(&error)
        }
    }

    /// The response; messages that belong to other requests are passed over, but not without end.
    private func response(_ identifier: STUNMessage.TransactionID) throws(ChannelError) -> STUNMessage {
        for _ in 0..<8 {
            let bytes = isDatagram ? try read(upTo: STUNMessage.maxLength) : try readMessage()
            guard let message = try? STUNMessage(parsing: bytes) else { throw .notSTUN }
            if message.transactionID == identifier { return message }
        }
        throw .notSTUN
    }

    /// One message from a stream: a header of 20 bytes, which has the length of the rest at its third byte.
    private func readMessage() throws(ChannelError) -> [UInt8] {
        let head = try read(exactly: 20)
        let length = Int(head[2]) << 8 | Int(head[3])
        guard length + head.count <= STUNMessage.maxLength else { throw .notSTUN }
        return head + (length == 0 ? [] : try read(exactly: length))
    }

    private func read(exactly count: Int) throws(ChannelError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += try read(upTo: count - bytes.count) }
        return bytes
    }

    private func read(upTo count: Int) throws(ChannelError) -> [UInt8] {
        var error: UnsafeMutablePointer<GError>?
        var buffer = [UInt8](repeating: 0, count: count)
        let taken = g_input_stream_read(g_io_stream_get_input_stream(stream), &buffer, gsize(count), nil, &error)
        guard taken >= 0 else { throw Self.problem(&error) }
        guard taken > 0 else { throw .unreachable("the server closed the connection") }
        return Array(buffer.prefix(Int(taken)))
    }

    private static func problem(_ error: inout UnsafeMutablePointer<GError>?) -> ChannelError {
        defer { g_clear_error(&error) }
        guard let error else { return .unreachable("unknown reason") }
        let words = String(cString: error.pointee.message)
        let isCertificate =
            error.pointee.domain == g_tls_error_quark()
            && error.pointee.code == gint(bitPattern: G_TLS_ERROR_BAD_CERTIFICATE.rawValue)
        if isCertificate { return .certificate(words) }
        let isLate =
            error.pointee.domain == g_io_error_quark()
            && error.pointee.code == gint(bitPattern: G_IO_ERROR_TIMED_OUT.rawValue)
        return .unreachable(isLate ? "no answer" : words)
    }
}
