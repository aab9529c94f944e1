import CGLib
import Glibc

/// What is kept of one accepted connection, from accept until its stream is freed.
final class ClientConnection {
    /// The client's address in text, without port.
    let address: String
    /// When the connection is closed unless it has got on (g_get_monotonic_time, microseconds).
    var deadline = Int.max
    /// What is done at the deadline in place of an abort, once.
    var onDeadline: (() -> Void)?
    /// Whether it comes from a trusted proxy, which has many clients.
    let isOfProxy: Bool
    /// Counts the connections of a front as they come.
    let number: UInt64
    /// Whether its client has shown what lets it in, or is in a room; one that hasn't makes room for others.
    var isAdmitted = false
    /// Whether its last request has been answered and no other has begun.
    var isAnswered = false
    /// Whether it has made room, and will be gone soon.
    var isDropped = false
    /// How much of the present request's body has come.
    var bodyCount = 0
    /// What goes between us and the socket once its handshake is done: TLS.
    var tls: UnsafeMutablePointer<GIOStream>?

    private let socket: UnsafeMutablePointer<GSocket>
    private let socketAddress: UnsafeMutablePointer<GSocketAddress>
    private var onGone: (() -> Void)?

    /// Keeps `socket` and `address`, so that the latter's place in memory names this connection alone.
    init(
        socket: UnsafeMutablePointer<GSocket>, address: UnsafeMutablePointer<GSocketAddress>, number: UInt64,
        proxies: TrustedProxies
    ) {
        self.number = number
        self.socket = socket
        socketAddress = address
        g_object_ref(socket)
        g_object_ref(address)
        if let host = shim_g_socket_address_host(address) {
            self.address = String(cString: host)
            g_free(host)
        } else {
            self.address = ""
        }
        isOfProxy = proxies.contains(self.address)
    }

    /// What the connection is counted as where those of one address are limited; nil where they aren't.
    private(set) lazy var countedAs: String? =
        isOfProxy || ClientAddress.isLoopback(address) ? nil : ClientAddress.key(address)

    deinit {
        g_object_unref(socket)
        g_object_unref(socketAddress)
    }

    /// Calls `onGone` once when `stream` is freed.
    func watch(_ stream: UnsafeMutablePointer<GObject>, onGone: @escaping () -> Void) {
        self.onGone = onGone
        g_object_weak_ref(
            stream,
            { data, _ in
                guard let data else { return }
                let connection = Unmanaged<ClientConnection>.fromOpaque(data).takeRetainedValue()
                connection.tls = nil
                connection.onGone?()
                connection.onGone = nil
            }, Unmanaged.passRetained(self).toOpaque())
    }

    /// Doesn't call `onGone` any more.
    func forget() {
        onGone = nil
    }

    /// Whether the client has closed and all that it sent is read. libsoup doesn't look while an answer is held back.
    var isLeft: Bool {
        var byte: UInt8 = 0
        return recv(g_socket_get_fd(socket), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Gives the connection `time` from now for its next step.
    func allow(_ time: Duration) {
        deadline = g_get_monotonic_time() + time.microseconds
    }

    /// Sends `text` behind libsoup's back, and the end of what we send.
    func sayLast(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            if let output = tls.flatMap({ g_io_stream_get_output_stream($0) }) {
                _ = g_pollable_output_stream_write_nonblocking(
                    OpaquePointer(output), bytes.baseAddress, gsize(bytes.count), nil, nil)
                return
            }
            bytes.withMemoryRebound(to: CChar.self) {
                _ = g_socket_send(socket, $0.baseAddress, gsize($0.count), nil, nil)
            }
        }
        g_socket_shutdown(socket, 0, 1, nil)
    }

    /// The deadline has passed.
    func endInTime() {
        deadline = .max
        guard let end = onDeadline else { return abort() }
        onDeadline = nil
        end()
    }

    /// Ends the connection both ways; whoever reads or writes it finds out by itself.
    func abort() {
        deadline = .max
        g_socket_shutdown(socket, 1, 1, nil)
    }
}
