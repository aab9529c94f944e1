import ByteCoding
import CaptureLink
import Clocks
import LinkTransport
import MediaTypes

/// Writes messages to the host in few system calls, and keeps the latest control message of each kind while the host is
/// still taking a frame.
///
/// The connection keeps the rest of partly written data. The next frame is sent only when the connection has nothing
/// pending (`hasPending`), so the rest is at most one frame and the messages sent with it. Belongs to the capture
/// thread, outlives connections, and never blocks. A method that throws has left a message unfinished, and the
/// connection can't be used any more.
struct OutgoingMessages {
    private let encoder: MessageEncoder
    private var writer = ByteWriter(capacity: OutgoingMessages.gathered)
    /// Control messages that the host has had no room for: the latest of each kind.
    private var waiting: [LinkMessage] = []
    /// When the host last took some of the pending data.
    private var lastTaken = MonotonicTime.zero
    /// The bytes handed to connections, headers included.
    private(set) var bytesSent: UInt64 = 0

    /// Up to this many bytes are copied together rather than written one by one.
    private static let gathered = 1 << 16

    init(_ encoder: MessageEncoder) {
        self.encoder = encoder
    }

    /// Sends a control message.
    ///
    /// While earlier data is pending, the message waits, and the next one of its kind replaces it. So a host that sends
    /// requests but doesn't read can't make messages pile up here.
    mutating func send(_ message: LinkMessage, on connection: SocketConnection) throws(SocketError) {
        if connection.hasPending {
            waiting.removeAll { $0.kind == message.kind }
            waiting.append(message)
        } else {
            try write([message], to: connection)
        }
    }

    /// Writes control messages in one system call, even after data that the host hasn't taken yet.
    mutating func write(_ messages: [LinkMessage], to connection: SocketConnection) throws(SocketError) {
        writer.removeAll()
        for message in messages { encoder.append(message, to: &writer) }
        try writeOut(to: connection)
    }

    /// Writes a frame after its notice, if there is one.
    ///
    /// A small frame takes one system call, because each call wakes the host up. Of a large unit, only the part that
    /// the host doesn't take at once is copied.
    mutating func write(
        _ frame: OutgoingFrame, notice: LinkMessage? = nil, to connection: SocketConnection
    ) throws(SendingError) {
        writer.removeAll()
        if let notice { encoder.append(notice, to: &writer) }
        for index in frame.units.indices {
            let bytes = frame.units[index]
            do throws(LinkError) {
                try encoder.appendStart(of: index, in: frame, to: &writer)
            } catch {
                throw .message(error)
            }
            if writer.count + bytes.count <= Self.gathered {
                writer.append(bytes)
            } else {
                do throws(SocketError) {
                    try writeOut(followedBy: UnsafeRawBufferPointer(bytes), to: connection)
                } catch {
                    throw .link(error)
                }
            }
        }
        do throws(SocketError) {
            try writeOut(to: connection)
        } catch {
            throw .link(error)
        }
    }

    /// Writes the gathered bytes, followed by `payload`.
    private mutating func writeOut(
        followedBy payload: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        to connection: SocketConnection
    ) throws(SocketError) {
        defer { writer.removeAll() }
        guard writer.count + payload.count > 0 else { return }
        if !connection.hasPending { lastTaken = .now() }
        try connection.enqueue(header: writer.bytes, payload: payload)
        bytesSent &+= UInt64(writer.count + payload.count)
    }

    /// Writes pending data, as far as the host takes it.
    mutating func flush(_ connection: SocketConnection, _ now: MonotonicTime) throws(SocketError) {
        let before = connection.pendingBytes
        try connection.flush()
        if connection.pendingBytes < before { lastTaken = now }
        // These messages go before the next frame, because they may be about it.
        guard !connection.hasPending, !waiting.isEmpty else { return }
        try write(waiting, to: connection)
        waiting.removeAll(keepingCapacity: true)
    }

    /// The time since which the host has taken none of the pending data; nil if nothing is pending.
    func idle(on connection: SocketConnection) -> MonotonicTime? {
        connection.hasPending ? lastTaken : nil
    }

    /// Discards the control messages that wait, because their host is gone or is being sent the end.
    mutating func forgetWaiting() {
        waiting.removeAll()
    }
}
