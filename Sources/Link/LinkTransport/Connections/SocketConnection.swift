import Glibc

/// A connected, non-blocking stream socket with a bounded queue of bytes that the peer hasn't accepted yet.
///
/// Not thread-safe. Its thread polls `descriptor`, always for reading, and also for writing while `wantsWrite` is true.
/// When it is writable, call `flush`. `close` is explicit and idempotent, and also happens when the connection is
/// released.
public final class SocketConnection {
    /// The result of `receive`.
    public enum Received: Equatable, Sendable {
        /// The number of bytes at the beginning of the buffer; at least one.
        case bytes(Int)
        /// No data has arrived; use poll(2).
        case wouldBlock
        /// The peer has closed its end or is gone.
        case closed
    }

    /// The default number of bytes that may wait for a slow peer: a few of the largest units.
    public static let standardLimit = 16 << 20
    /// A buffer for `receive` of this many bytes or more is always large enough.
    public static let minBuffer = EncryptedStream.maxRecord

    private var socket: FileDescriptor?
    /// The encryption of the socket's bytes, if there is one.
    private var stream: EncryptedStream?
    /// The encryption that the peer, which speaks first, may choose; nil once its first byte has arrived.
    var offered: SocketEncryption?
    private var outgoing = OutgoingBytes()
    private var isPeerGone = false
    private let limit: Int
    /// The peer's numeric IP address without a port. Nil for a Unix socket, whose ends are on the same machine.
    public let remote: String?

    /// Takes ownership of a connected socket that is already non-blocking. At most `limit` bytes wait for the peer.
    public init(
        adopting socket: consuming FileDescriptor, limit: Int = SocketConnection.standardLimit, remote: String? = nil
    ) {
        self.socket = consume socket
        self.limit = limit
        self.remote = remote
    }

    /// Adopts a connected socket whose bytes are encrypted; `end` is our end. Until the handshake is complete,
    /// `receive` continues it, and everything that is written waits.
    init(
        adopting socket: consuming FileDescriptor, limit: Int = SocketConnection.standardLimit, remote: String,
        _ encryption: SocketEncryption, _ end: EncryptedStream.End
    ) throws(SocketError) {
        stream = try EncryptedStream(encryption, on: socket.rawValue, end, remote: remote)
        self.socket = consume socket
        self.limit = limit
        self.remote = remote
    }

    /// The file descriptor for poll(2); -1 after `close`.
    public var descriptor: Int32 { socket?.rawValue ?? -1 }

    /// Whether writing is no longer possible, because `close` was called or because a write found that the peer is
    /// gone.
    ///
    /// Data that the peer sent before it left can still be read, until `Received.closed`.
    public var isClosed: Bool { isPeerGone || descriptor < 0 }
    /// Whether bytes wait for the peer (back-pressure).
    public var hasPending: Bool { !outgoing.isEmpty }
    /// The number of bytes that wait for the peer.
    public var pendingBytes: Int { outgoing.count }
    /// Whether poll(2) should also wait until the socket is writable.
    public var wantsWrite: Bool {
        if isClosed { return false }
        guard let stream else { return hasPending }
        return stream.wantsWrite || hasPending && stream.isEstablished
    }

    /// Whether the link is encrypted, and the peer has not sent a byte yet. A capture that encrypts begins the
    /// handshake as soon as it is connected, so after a moment this is probably one that doesn't, and waits for us.
    public var awaitsHandshake: Bool { stream.map { $0.firstByte == nil } ?? false }

    /// Tells a peer that has sent nothing that the link is encrypted, if it is. Close the connection afterwards.
    public func tellEncryption() { if awaitsHandshake { stream?.tellEncryption() } }

    /// Continues the handshake of an encrypted connection. Any other has none.
    func handshake() throws(SocketError) -> EncryptedStream.Progress {
        guard let stream, !stream.isEstablished else { return .done }
        let progress = try stream.handshake()
        if progress == .done { try flush() }
        return progress
    }

    /// Reads available data, at most `buffer.count` bytes, into the beginning of the buffer.
    ///
    /// Call it until it returns `wouldBlock`, or with a buffer of at least `minBuffer` bytes: an encrypted connection
    /// may otherwise hold data that poll(2) doesn't report.
    ///
    /// - Throws: `system` if the system fails, or `encryption` or `tokenRefused` on an encrypted link. A connection
    ///   that has ended is no error: the result is `closed`.
    public func receive(into buffer: inout [UInt8]) throws(SocketError) -> Received {
        let number = descriptor
        if number < 0 || buffer.isEmpty { return number < 0 ? .closed : .wouldBlock }
        if let offered {
            var first: UInt8 = 0
            let (count, code) = retryingInterrupted { recv(number, &first, 1, Int32(MSG_PEEK)) }
            if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
            self.offered = nil
            if count == 1, first == EncryptedStream.handshakeType {
                stream = try EncryptedStream(offered, on: number, .host, remote: remote ?? "?")
            }
        }
        if let stream { return try receive(into: &buffer, from: stream) }
        let (count, code) = retryingInterrupted {
            buffer.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
        }
        switch code {
        case 0: return count == 0 ? .closed : .bytes(count)
        case EAGAIN, EWOULDBLOCK: return .wouldBlock
        case ECONNRESET, EPIPE: return .closed
        default: throw .system(call: "read", subject: "", code: code)
        }
    }

    private func receive(
        into buffer: inout [UInt8], from stream: EncryptedStream
    ) throws(SocketError) -> Received {
        switch try handshake() {
        case .wouldBlock: return .wouldBlock
        case .ended: return .closed
        case .done: break
        }
        return try buffer.withUnsafeMutableBufferPointer { bytes throws(SocketError) in
            try stream.receive(into: UnsafeMutableRawBufferPointer(bytes))
        }
    }

    /// Writes a message, or as much of it as the peer accepts now. Only the rest is copied and waits.
    ///
    /// Messages stay in order: a message waits while older bytes do.
    ///
    /// - Throws: `queueFull` if more than the limit would wait (nothing of the message is written then), or `closed` if
    ///   the peer is gone.
    public func enqueue(header: [UInt8], payload: UnsafeRawBufferPointer) throws(SocketError) {
        if isClosed { throw .closed }
        // These are sizes of existing memory, so their sum can't overflow.
        if outgoing.count + header.count + payload.count > limit {
            throw .queueFull(pending: outgoing.count, limit: limit)
        }
        var written = 0
        if !hasPending {
            written = try header.withUnsafeBufferPointer { head throws(SocketError) in
                try send(UnsafeRawBufferPointer(head), payload)
            }
        }
        if written < header.count { outgoing.append(header[written...]) }
        let ofPayload = max(0, written - header.count)
        if ofPayload < payload.count { outgoing.append(UnsafeRawBufferPointer(rebasing: payload[ofPayload...])) }
    }

    /// Writes a message whose payload is an array. Throws the errors of the method above.
    public func enqueue(header: [UInt8], payload: [UInt8] = []) throws(SocketError) {
        try payload.withUnsafeBufferPointer { bytes throws(SocketError) in
            try enqueue(header: header, payload: UnsafeRawBufferPointer(bytes))
        }
    }

    /// Writes waiting bytes as far as the peer accepts them. Returns true if none are left.
    ///
    /// - Throws: `closed` if the peer is gone, or `system` if the system fails.
    @discardableResult
    public func flush() throws(SocketError) -> Bool {
        if isClosed { throw .closed }
        while hasPending {
            let written = try outgoing.withUnsafeBytes { (bytes) throws(SocketError) in
                try send(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
            }
            if written == 0 { return false }
            outgoing.removeFirst(written)
        }
        return true
    }

    /// Closes the connection. Bytes that still wait are lost.
    public func close() {
        stream = nil
        socket = nil
        outgoing = OutgoingBytes()
    }

    /// Sends both pieces with one sendmsg(2). Returns how many bytes the peer accepted, or 0 if there is no room.
    ///
    /// writev(2) isn't used, because only the send functions can be told not to raise SIGPIPE.
    private func send(
        _ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer
    ) throws(SocketError) -> Int {
        if let stream { return try send(head, body, over: stream) }
        let number = descriptor
        var pieces = (
            iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: body.count)
        )
        let (count, code) = withUnsafeMutableBytes(of: &pieces) { memory in
            var message = msghdr()
            message.msg_iov = memory.baseAddress?.assumingMemoryBound(to: iovec.self)
            message.msg_iovlen = 2
            return retryingInterrupted { sendmsg(number, &message, Int32(MSG_NOSIGNAL)) }
        }
        switch code {
        case 0: return count
        case EAGAIN, EWOULDBLOCK, ENOBUFS: return 0
        case EPIPE, ECONNRESET: throw losePeer()
        default: throw .system(call: "sendmsg", subject: "", code: code)
        }
    }

    private func send(
        _ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, over stream: EncryptedStream
    ) throws(SocketError) -> Int {
        do throws(SocketError) {
            let written = try stream.send(head)
            return written < head.count ? written : written + (try stream.send(body))
        } catch .closed {
            throw losePeer()
        }
    }

    /// Notes that nothing can be written any more.
    private func losePeer() -> SocketError {
        isPeerGone = true
        outgoing = OutgoingBytes()
        return .closed
    }
}
