import Glibc

/// A connected, non-blocking stream socket with a bounded queue of what the peer hasn't taken yet.
///
/// Not thread-safe. Its thread polls `descriptor`: for reading always, for writing while `wantsWrite`; writable means
/// `flush`. `close` is explicit, idempotent, and also done when the connection goes.
public final class LinkConnection {
    /// What `receive` found.
    public enum Received: Equatable, Sendable {
        /// So many bytes stand at the buffer's beginning; at least one.
        case bytes(Int)
        /// Nothing has come; poll.
        case wouldBlock
        /// The peer has closed its end, or is gone.
        case closed
    }

    /// Bytes that may wait for a slow peer unless told otherwise: a few of the largest NAL units.
    public static let standardLimit = 16 << 20

    private var socket: FileDescriptor?
    private var outgoing = OutgoingBytes()
    private var isPeerGone = false
    private let limit: Int
    /// The other end's IP address in digits, without a port; nil for a Unix socket, whose ends are on one machine.
    public let remote: String?

    /// Takes over a connected socket that is already non-blocking; at most `limit` bytes wait for the peer.
    public init(
        adopting socket: consuming FileDescriptor, limit: Int = LinkConnection.standardLimit, remote: String? = nil
    ) {
        self.socket = consume socket
        self.limit = limit
        self.remote = remote
    }

    /// For poll(2). -1 after `close`.
    public var descriptor: Int32 {
        switch socket {
        case .some(let open): open.rawValue
        case .none: -1
        }
    }

    /// Whether nothing can be written any more: `close` has been called, or writing found that the peer is gone.
    ///
    /// What a peer has sent before it went can still be read, up to `Received.closed`.
    public var isClosed: Bool { isPeerGone || descriptor < 0 }
    /// Whether bytes wait for the peer: back-pressure.
    public var hasPending: Bool { !outgoing.isEmpty }
    /// How many bytes wait for the peer.
    public var pendingBytes: Int { outgoing.count }
    /// Whether poll(2) should also watch for room to write.
    public var wantsWrite: Bool { hasPending && !isClosed }

    /// Reads what has come, at most `buffer.count` bytes, to the buffer's beginning.
    public func receive(into buffer: inout [UInt8]) throws(LinkTransportError) -> Received {
        let number = descriptor
        if number < 0 || buffer.isEmpty { return number < 0 ? .closed : .wouldBlock }
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

    /// Writes a message, or as much of it as the peer takes now; only what it doesn't take is copied and waits.
    ///
    /// The message's order is kept: while older bytes wait, it waits behind them.
    /// - Throws: `queueFull` where more than the limit would wait (then nothing of the message is written), `closed`
    ///   where the peer is gone.
    public func enqueue(header: [UInt8], payload: UnsafeRawBufferPointer) throws(LinkTransportError) {
        if isClosed { throw .closed }
        // Sizes of memory that exists: their sum can't overflow.
        if outgoing.count + header.count + payload.count > limit {
            throw .queueFull(pending: outgoing.count, limit: limit)
        }
        var written = 0
        if !hasPending {
            // Through a Result: the standard library's closure here throws untyped errors only.
            let sent = header.withUnsafeBytes { head in
                Result { () throws(LinkTransportError) in try send(head, payload) }
            }
            written = try sent.get()
        }
        if written < header.count { outgoing.append(header[written...]) }
        let ofPayload = max(0, written - header.count)
        if ofPayload < payload.count { outgoing.append(UnsafeRawBufferPointer(rebasing: payload[ofPayload...])) }
    }

    /// As above, from an array.
    public func enqueue(header: [UInt8], payload: [UInt8] = []) throws(LinkTransportError) {
        let queued = payload.withUnsafeBytes { bytes in
            Result { () throws(LinkTransportError) in try enqueue(header: header, payload: bytes) }
        }
        try queued.get()
    }

    /// Writes what waits, as far as the peer takes it; true when nothing waits any more.
    @discardableResult
    public func flush() throws(LinkTransportError) -> Bool {
        if isClosed { throw .closed }
        while hasPending {
            let written = try outgoing.withUnsafeBytes { (bytes) throws(LinkTransportError) in
                try send(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
            }
            if written == 0 { return false }
            outgoing.removeFirst(written)
        }
        return true
    }

    /// Ends the connection; what still waits is lost.
    public func close() {
        socket = nil
        outgoing = OutgoingBytes()
    }

    /// One sendmsg(2) of both pieces; gives how many bytes the peer took, 0 where there is no room.
    ///
    /// Not writev(2): only the send family can be told not to raise SIGPIPE.
    private func send(
        _ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer
    ) throws(LinkTransportError) -> Int {
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
        case EPIPE, ECONNRESET:
            isPeerGone = true
            outgoing = OutgoingBytes()
            throw .closed
        default: throw .system(call: "sendmsg", subject: "", code: code)
        }
    }
}
