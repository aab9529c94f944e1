import CGLib
import Clocks
import MediaSessions
import MediaTypes

/// A WebSocket after its handshake: frames over a stream, with the limits of `SignallingLimits`.
///
/// It belongs to the site's thread. It ends once, by `close`, by the client, or by a limit, and then calls `onEnd`.
final class WebSocketConnection {
    /// Close codes (RFC 6455 section 7.4.1; those from 4000 on are our own).
    enum CloseCode: UInt16, Encodable {
        case normal = 1000
        case goingAway = 1001
        case protocolError = 1002
        case notText = 1007
        case policy = 1008
        case tooLarge = 1009
        case needsPassword = 4401
        case notAdmitted = 4403
        case noJoin = 4408
        case removed = 4410
        case expired = 4411
        case locked = 4423
        case turnedAway = 4424
        case full = 4503
    }

    enum State {
        case open
        /// Our close frame is queued. Of what the client still sends, only a close frame is considered, and nothing
        /// after a fault (`isDeaf`). It is still read to the end, because closing with unread bytes would reset the
        /// connection and could discard our close frame.
        case closing(deadline: MonotonicTime, isDeaf: Bool)
        case ended
    }

    /// Whether the connection has ended without a close frame from either side.
    private(set) var brokeOff = false

    /// Called with the text of each message.
    var onMessage: (String) -> Void = { _ in }
    /// Called when the connection has ended.
    var onEnd: () -> Void = {}
    /// Called after that, for the owner of the connection.
    var onGone: () -> Void = {}

    /// The burst that a client may send after a quiet time, as the time in which the allowed rate permits it.
    private static let burstTime = Interval.seconds(2)

    let stream: UnsafeMutablePointer<GIOStream>
    /// The underlying connection, while it exists.
    private weak var client: ClientConnection?
    /// The number of messages that the client may send before it is admitted; nil once it is. The decoder limits the
    /// bytes.
    private var allowance: Int?
    let context: OpaquePointer
    let limits: SignallingLimits
    var state = State.open
    private var decoder: WebSocketDecoder
    private var reading: EventSource?
    var writing: EventSource?
    var unread: [UInt8] = []
    var unreadStart = 0
    /// The pictures that wait behind `unread`, and the sound, which waits in front of them, since when.
    var pictures: [WholePicture] = []
    /// The number of the last picture that doesn't wait any more; 0 before the first of a stream.
    var begunPicture: UInt32 = 0
    var sounds: [(sound: WholeAudio, since: MonotonicTime)] = []
    var soundFlow: AudioFlow
    /// The end of the picture or sound in `unread`, which is in front of all messages.
    var frameEnd = 0
    private var lastPing: MonotonicTime
    private var awaitsPong = false
    private var onPong: (() -> Void)?
    /// The time up to which the client's messages are paid for, at `messagesPerSecond`.
    private var messagesPaid: MonotonicTime

    /// Takes over `stream` after its handshake, including one reference to it.
    ///
    /// Until `admit`, the client may send only a little.
    init(
        _ stream: UnsafeMutablePointer<GIOStream>, of client: ClientConnection?, limits: SignallingLimits,
        on context: OpaquePointer
    ) {
        self.stream = stream
        self.client = client
        self.limits = limits
        self.context = context
        decoder = WebSocketDecoder(limit: limits.bytesBeforeJoining)
        soundFlow = AudioFlow(maxWait: limits.soundTime)
        allowance = limits.messagesBeforeJoining
        lastPing = .now()
        messagesPaid = lastPing - Self.burstTime
    }

    deinit {
        g_object_unref(stream)
    }

    /// Admits the client: it may send as much as any member, and its connection isn't closed to make room for others.
    func admit() {
        allowance = nil
        decoder.limit = limits.message
        client?.isAdmitted = true
    }

    /// Lets a client that hasn't been admitted try again.
    func allowAnotherTry() {
        guard allowance != nil else { return }
        allowance = limits.messagesBeforeJoining
        decoder.limit = limits.bytesBeforeJoining
    }

    /// Starts reading. Data that arrived with the handshake is read at once.
    func start() {
        guard readAll(), let input = g_io_stream_get_input_stream(stream) else { return }
        reading = EventSource.readable(input, on: context, of: self) { $0.readAll() }
    }

    /// Queues a text message. A client that leaves too much unread is disconnected.
    func send(_ text: String) {
        guard case .open = state else { return }
        queue(WebSocketFrame.text(text))
    }

    /// Queues a message encoded by `WebSocketFrame.text`, so that one for many clients is encoded once.
    func send(frame: [UInt8]) {
        guard case .open = state else { return }
        queue(frame)
    }

    /// Whether data waits for the client to read it.
    var hasUnsent: Bool { unreadStart < unread.count }
    /// The number of bytes that wait, without pictures and sound.
    var unsentCount: Int { unread.count - max(unreadStart, frameEnd) }

    private var isDeaf: Bool {
        if case .closing(_, isDeaf: true) = state { return true }
        return false
    }

    /// Sends a close frame, and ends when the client has answered or 2 s have passed. After a fault the connection is
    /// deaf.
    func close(_ code: CloseCode, isDeaf: Bool = false) {
        guard case .open = state else { return }
        state = .closing(deadline: .now() + .seconds(2), isDeaf: isDeaf)
        dropFrames()
        queue(WebSocketFrame.close(code.rawValue))
    }

    /// Ends without a close frame. Further calls do nothing.
    func abort() {
        if case .ended = state { return }
        if case .open = state { brokeOff = true }
        state = .ended
        reading = nil
        writing = nil
        unread = []
        dropFrames()
        client?.endSending()
        g_io_stream_close(stream, nil, nil)
        onEnd()
        onGone()
    }

    /// Sends pings, and disconnects a client that didn't answer the last one. Must be called several times in
    /// `pingTime`.
    func tick() {
        let now = MonotonicTime.now()
        switch state {
        case .ended: return
        case .closing(let deadline, _): if now > deadline { abort() }
        case .open:
            guard now - lastPing >= limits.pingTime else { return }
            guard !awaitsPong else { return abort() }
            ping {}
        }
    }

    /// Sends a ping, and calls `onPong` when it is answered. Does nothing while another one isn't answered.
    func ping(_ onPong: @escaping () -> Void) {
        guard case .open = state, !awaitsPong else { return }
        lastPing = .now()
        awaitsPong = true
        self.onPong = onPong
        queue(WebSocketFrame.ping())
    }
}

// MARK: - Reading

extension WebSocketConnection {
    /// Reads available data, up to a limit so that other connections get their turn. Returns false once the connection
    /// has ended.
    private func readAll() -> Bool {
        guard let input = g_io_stream_get_input_stream(stream) else { return false }
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        for _ in 0..<Self.chunksAtOnce {
            if case .ended = state { return false }
            var error: UnsafeMutablePointer<GError>?
            let count = g_pollable_input_stream_read_nonblocking(
                OpaquePointer(input), &chunk, gsize(chunk.count), nil, &error)
            if count < 0, mustWait(&error) { return true }
            guard count > 0 else {
                abort()
                return false
            }
            if case .closing(_, isDeaf: true) = state { continue }
            decoder.append(chunk.prefix(count))
            takeEvents()
        }
        if case .ended = state { return false }
        return true
    }

    private static let chunksAtOnce = 4

    private func takeEvents() {
        do throws(WebSocketDecoder.FrameError) {
            while !isDeaf, let event = try decoder.next() { take(event) }
        } catch {
            switch state {
            case .open: close(error == .tooLarge ? .tooLarge : .protocolError, isDeaf: true)
            case .closing(let deadline, _): state = .closing(deadline: deadline, isDeaf: true)
            case .ended: break
            }
        }
    }

    private func take(_ event: WebSocketDecoder.Event) {
        switch (state, event) {
        case (.ended, _): return
        case (.closing, .close): finish()
        case (.closing, _): return
        case (.open, .ping(let payload)):
            guard payForMessage(payload.count) else { return }
            queue(WebSocketFrame.pong(payload))
        case (.open, .pong):
            // An unsolicited pong costs as much as any message.
            guard awaitsPong || payForMessage(0) else { return }
            awaitsPong = false
            onPong?()
            onPong = nil
        case (.open, .close):
            close(.normal)
            finish()
        case (.open, .message(let bytes)):
            guard payForMessage(bytes.count) else { return }
            guard let text = String(validating: bytes, as: UTF8.self) else { return close(.notText) }
            onMessage(text)
        }
    }

    /// Whether the client may send another message of `count` bytes now; closes the connection if not.
    private func payForMessage(_ count: Int) -> Bool {
        if let left = allowance {
            guard left > 0 else {
                close(.policy, isDeaf: true)
                return false
            }
            allowance = left - 1
            decoder.limit -= count
        }
        let now = MonotonicTime.now()
        messagesPaid = max(messagesPaid, now - Self.burstTime) + limits.messagePrice
        if messagesPaid > now {
            close(.policy, isDeaf: true)
            return false
        }
        return true
    }

    /// Makes the last message count for nothing: it was one that we are glad of.
    func refundMessage() { messagesPaid = messagesPaid - limits.messagePrice }
}

/// Whether a non-blocking call failed only because it would block. Frees the error.
func mustWait(_ error: inout UnsafeMutablePointer<GError>?) -> Bool {
    defer { g_clear_error(&error) }
    return error?.pointee.domain == shim_g_io_error_quark()
        && error?.pointee.code == gint(G_IO_ERROR_WOULD_BLOCK.rawValue)
}
