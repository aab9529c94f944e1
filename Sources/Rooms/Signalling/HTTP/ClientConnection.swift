import CGLib
import Clocks
import Glibc
import MediaTypes
import Threading

/// The state of one accepted connection, kept from accept until its stream is freed.
final class ClientConnection {
    /// The client's address in text, without the port.
    let address: String
    /// When the connection is closed unless it makes progress.
    var deadline = MonotonicTime.distantFuture
    /// Called once at the deadline instead of an abort.
    var onDeadline: (() -> Void)?
    /// Whether the connection comes from a trusted proxy, which serves many clients.
    let isOfProxy: Bool
    /// The connection's ordinal number within its `HTTPFront`.
    let number: UInt64
    /// Whether the client has given valid credentials or is in a room. Other connections may be closed to make room.
    var isAdmitted = false
    /// Whether the last request has been answered and no other has begun.
    var isAnswered = false
    /// Whether another request may follow the present one.
    var isKept = false
    /// The connection while it waits for another request and has no other owner; nil at any other time.
    private var idle: IdleStream?
    /// The number of requests so far.
    private var requestCount = 0
    /// Whether the connection was closed to make room, and will be gone soon.
    var isDropped = false
    /// Whether TLS has been established.
    private(set) var isSecured = false
    /// The number of bytes received of the current request's body.
    var bodyCount = 0
    let local: UnsafeMutablePointer<GSocketAddress>
    let remote: UnsafeMutablePointer<GSocketAddress>
    private let socket: UnsafeMutablePointer<GSocket>
    /// Refers to the stream over the socket, with TLS if there is TLS, while it exists.
    private let stream = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)
    private let context: OpaquePointer
    private var onGone: (() -> Void)?
    /// Set once `onGone` is never called again: the site's thread may then have ended.
    private let isForgotten = Flag()

    /// Keeps references to all three, so the pointer to `remote` identifies only this connection.
    init(
        socket: UnsafeMutablePointer<GSocket>, local: UnsafeMutablePointer<GSocketAddress>,
        remote: UnsafeMutablePointer<GSocketAddress>, number: UInt64, proxies: TrustedProxies, on context: OpaquePointer
    ) {
        self.socket = socket
        self.local = local
        self.remote = remote
        self.number = number
        self.context = g_main_context_ref(context)
        g_weak_ref_init(stream, nil)
        g_object_ref(socket)
        g_object_ref(local)
        g_object_ref(remote)
        if let host = shim_g_socket_address_host(remote) {
            self.address = String(cString: host)
            g_free(host)
        } else {
            self.address = ""
        }
        isOfProxy = proxies.contains(self.address)
    }

    /// Whose connection it is, while that counts.
    var client: ConnectedClient?
    /// The key under which the connection counts towards the limit for one address; nil if it doesn't.
    private(set) lazy var countedAs: String? =
        isOfProxy || Loopback.contains(address) ? nil : ClientAddress.key(address)

    deinit {
        g_weak_ref_clear(stream)
        stream.deallocate()
        g_main_context_unref(context)
        g_object_unref(socket)
        g_object_unref(local)
        g_object_unref(remote)
    }

    /// Calls `onGone` on the site's thread once `stream` is freed. The stream's weak reference keeps this object until
    /// then.
    func watch(_ stream: UnsafeMutablePointer<GObject>, onGone: @escaping () -> Void) {
        self.onGone = onGone
        g_weak_ref_set(self.stream, stream)
        g_object_weak_ref(
            stream,
            { connection, _ in
                if let connection { ClientConnection.streamFreed(connection) }
            }, Unmanaged.passRetained(self).toOpaque())
    }

    /// Called on the thread that releases the stream last: the site's, or GLib's that ran a TLS handshake. `data` is
    /// the retained connection.
    private static func streamFreed(_ data: gpointer) {
        let connection = Unmanaged<ClientConnection>.fromOpaque(data).takeUnretainedValue()
        let isOnSiteThread = g_main_context_is_owner(connection.context) != 0
        // After `forget()` there is nothing to call, and the site's thread may have ended.
        if isOnSiteThread || connection.isForgotten.isSet { return gone(data) }
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_set_callback(
            source,
            { data in
                if let data { ClientConnection.gone(data) }
                return 0
            }, data, nil)
        g_source_attach(source, connection.context)
        g_source_unref(source)
    }

    /// Releases the connection that `watch` has retained.
    private static func gone(_ data: gpointer) {
        let connection = Unmanaged<ClientConnection>.fromOpaque(data).takeRetainedValue()
        connection.onGone?()
        connection.onGone = nil
    }

    /// Notes that TLS has been established.
    func secured() {
        isSecured = true
    }

    /// Lets TLS be closed without waiting until the client has read everything. Does nothing without TLS.
    func endSending() {
        withTLS { shim_end_sending($0) }
    }

    /// Calls `body` with the TLS stream. Returns false if there is none.
    @discardableResult
    private func withTLS(_ body: (UnsafeMutablePointer<GIOStream>) -> Void) -> Bool {
        guard isSecured, let stream = g_weak_ref_get(stream) else { return false }
        body(UnsafeMutableRawPointer(stream).assumingMemoryBound(to: GIOStream.self))
        g_object_unref(stream)
        return true
    }

    /// Keeps the connection for another request, and calls `onRequest` once the client sends something or leaves.
    ///
    /// `used` is the stream that read the last request. It is needed again only if it has a part of the next one.
    func park<Owner: AnyObject>(
        after used: UnsafeMutablePointer<GIOStream>, of owner: Owner, onRequest: @escaping (Owner) -> Void
    ) {
        // The next request has to show its own right to be here.
        (isAnswered, isAdmitted) = (true, false)
        guard let own = g_weak_ref_get(stream) else { return }
        defer { g_object_unref(own) }
        let hasMore = g_io_stream_get_input_stream(used).map {
            g_pollable_input_stream_is_readable(OpaquePointer($0)) != 0
        }
        let kept = hasMore == true ? used : UnsafeMutableRawPointer(own).assumingMemoryBound(to: GIOStream.self)
        let idle = IdleStream(kept)
        idle.waiting = g_io_stream_get_input_stream(kept).flatMap { input in
            EventSource.readable(input, on: context, of: owner) { owner in
                onRequest(owner)
                return false
            }
        }
        self.idle = idle
    }

    /// Cancels the call of `onGone`.
    func forget() {
        onGone = nil
        isForgotten.set()
    }

    /// Whether the client has closed the connection and everything it sent has been read. libsoup doesn't check this
    /// while a response is paused.
    var isClosedByPeer: Bool {
        var byte: UInt8 = 0
        return recv(g_socket_get_fd(socket), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Notes that a request begins, or is awaited on a new connection.
    func requestBegins() {
        (bodyCount, isAnswered, isKept) = (0, false, false)
        requestCount += 1
    }

    /// Gives the stream back that has been kept since the last request.
    func unpark() -> IdleStream? {
        defer { idle = nil }
        return idle
    }

    /// Whether no request may follow the present one. Data that a client sends before its last request has been
    /// answered is kept in a stream for each such request.
    var reachedRequestLimit: Bool { requestCount >= 100 }

    /// Whether the client hasn't confirmed all that was sent to it.
    var hasUnacknowledgedData: Bool {
        var count: Int32 = 0
        return ioctl(g_socket_get_fd(socket), UInt(TIOCOUTQ), &count) != 0 || count > 0
    }

    /// Sets the deadline for the next step to `time` from now.
    func allow(_ time: Interval) {
        deadline = .now() + time
    }

    /// Sends `text`, bypassing libsoup, and then shuts down our sending side.
    func sendAndShutdown(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            let isSent = withTLS { stream in
                guard let output = g_io_stream_get_output_stream(stream) else { return }
                _ = g_pollable_output_stream_write_nonblocking(
                    OpaquePointer(output), bytes.baseAddress, gsize(bytes.count), nil, nil)
            }
            guard !isSent else { return }
            bytes.withMemoryRebound(to: CChar.self) {
                _ = g_socket_send(socket, $0.baseAddress, gsize($0.count), nil, nil)
            }
        }
        g_socket_shutdown(socket, 0, 1, nil)
    }

    /// Handles a deadline that has passed.
    func deadlineExpired() {
        deadline = .distantFuture
        guard let end = onDeadline else { return abort() }
        onDeadline = nil
        end()
    }

    /// Shuts the connection down in both directions. Its readers and writers notice on their own.
    func abort() {
        deadline = .distantFuture
        g_socket_shutdown(socket, 1, 1, nil)
        idle = nil
    }
}

/// The stream of a connection between two requests. Released without being passed on, it is closed.
final class IdleStream {
    let stream: UnsafeMutablePointer<GIOStream>
    /// Watches for data from the client, or for the end of the connection.
    var waiting: EventSource?

    /// Keeps a reference to `stream`.
    init(_ stream: UnsafeMutablePointer<GIOStream>) {
        self.stream = stream
        g_object_ref(stream)
    }

    deinit {
        waiting = nil
        g_object_unref(stream)
    }
}
