import Clocks
import MediaTypes
import SocketIORooms

/// A client's Engine.IO session: packets in both directions over long polling, over a WebSocket, or over polling first
/// and a WebSocket later.
///
/// It belongs to the site's thread. It ends once, by `close`, by the client, or by a limit, and then calls `onEnd`.
final class EngineSession {
    /// A GET that waits for packets.
    struct Poll {
        let exchange: HTTPExchange
        let headers: HTTPHeaders
    }

    enum Transport {
        case polling
        case webSocket(WebSocketConnection)
    }

    enum State {
        case open
        /// Nothing more will be sent; a polling client has until the deadline to fetch the rest.
        case closing(deadline: MonotonicTime)
        case ended
    }

    /// A WebSocket that a polling client wants to upgrade to.
    struct Upgrade {
        let socket: WebSocketConnection
        let deadline: MonotonicTime
        var isProbed = false
    }

    /// The secret identifier of the session: a client that knows it can act in the session.
    let name: String
    let version: EngineVersion
    /// The client's address.
    let address: String
    /// Called with the text of each message.
    var onMessage: (String) -> Void = { _ in }
    /// Called when the session has ended.
    var onEnd: () -> Void = {}

    let limits: SignallingLimits
    /// When it was opened.
    let opened: MonotonicTime
    var transport: Transport
    var state = State.open
    var upgrade: Upgrade?
    var waiting: Poll?
    /// The connection of a POST whose body is still arriving; nil if there is none.
    weak var posting: ClientConnection?
    /// Whether the client is in a room.
    private(set) var isAdmitted = false
    /// The messages and bytes that a polling client may still send until it is in a room.
    var messagesLeft: Int
    var bytesLeft: Int
    var unsent: [EnginePacket] = []
    var unsentCount = 0
    var lastHeard: MonotonicTime
    private var lastPing: MonotonicTime
    private var awaitsPong = false
    /// The time up to which a polling client's packets are paid for, at `messagesPerSecond`.
    var packetsPaid: MonotonicTime

    /// The burst that a polling client may send after a quiet time, as the time in which the allowed rate permits it.
    static let burstTime = Interval.seconds(2)
    /// How long a polling client has to fetch the rest.
    private static let farewellTime = Interval.seconds(5)

    /// Creates a session over `socket`, which isn't started yet, or over polling.
    init(name: String, version: EngineVersion, socket: WebSocketConnection?, address: String, limits: SignallingLimits)
    {
        self.name = name
        self.version = version
        self.address = address
        self.limits = limits
        transport = socket.map { .webSocket($0) } ?? .polling
        let now = MonotonicTime.now()
        opened = now
        lastHeard = now
        lastPing = now
        packetsPaid = now - Self.burstTime
        messagesLeft = limits.messagesBeforeJoining
        bytesLeft = limits.bytesBeforeJoining
        if let socket { listen(to: socket) }
    }

    /// The number of bytes that wait to be read by the client.
    var unreadCount: Int {
        switch transport {
        case .polling: unsentCount
        case .webSocket(let socket): socket.unsentCount
        }
    }

    /// Whether the client uses polling; false once a WebSocket has taken over.
    var isPolling: Bool {
        if case .polling = transport { true } else { false }
    }

    /// Sends the greeting that opens the session.
    func greet() {
        let greeting = EngineGreeting(
            session: name, version: version, mayUpgrade: isPolling,
            pingInterval: Int(limits.enginePingInterval.milliseconds),
            pingTimeout: Int(limits.enginePingTimeout.milliseconds), payloadLimit: limits.body)
        send(greeting.packet)
    }

    /// Marks the client as being in a room: it may send as much as any member, and its connection isn't closed to make
    /// room.
    func admit() {
        isAdmitted = true
        waiting?.exchange.connection?.isAdmitted = true
        if case .webSocket(let socket) = transport { socket.admit() }
    }

    /// Allows a client that isn't in a room another try.
    func allowAnotherTry() {
        messagesLeft = limits.messagesBeforeJoining
        bytesLeft = limits.bytesBeforeJoining
        if case .webSocket(let socket) = transport { socket.allowAnotherTry() }
    }

    /// Sends a message. A client that leaves too much unread is disconnected.
    func send(_ packet: SocketPacket) {
        send(EnginePacket(.message, packet.encoded))
    }

    /// Ends the session once everything sent has been read, or after 5 s.
    func close() {
        guard case .open = state else { return }
        dropUpgrade()
        switch transport {
        case .webSocket(let socket):
            state = .closing(deadline: .distantFuture)
            socket.close(.normal)
        case .polling:
            send(EnginePacket(.close))
            guard case .open = state else { return }
            if unsent.isEmpty { return end() }
            state = .closing(deadline: .now() + Self.farewellTime)
        }
    }

    /// Ends the session at once. Further calls do nothing.
    func end() {
        if case .ended = state { return }
        state = .ended
        dropUpgrade()
        unsent = []
        answerPoll([EnginePacket(.close)])
        if case .webSocket(let socket) = transport {
            socket.onEnd = {}
            socket.abort()
        }
        onEnd()
    }

    /// Ends a session whose client may be gone: a polling session at once, without waiting for the client to fetch
    /// anything.
    func endIdle() {
        if isPolling { end() } else { close() }
    }

    /// Ends the session because the host is ending. A WebSocket client learns the reason from the close code.
    func endWithHost() {
        guard case .webSocket(let socket) = transport else { return end() }
        state = .closing(deadline: .distantFuture)
        socket.close(.goingAway)
    }

    /// Sends heartbeats, and ends the session on a timeout. Must be called several times during a ping timeout.
    func tick() {
        let now = MonotonicTime.now()
        if let deadline = upgrade?.deadline, now > deadline { upgrade?.socket.close(.policy) }
        switch state {
        case .ended: return
        case .closing(let deadline):
            if now > deadline { end() }
            return
        case .open: break
        }
        // A waiting request notices by itself when its client is gone.
        if let waiting, waiting.exchange.clientIsGone { return end() }
        let (interval, timeout) = (limits.enginePingInterval, limits.enginePingTimeout)
        switch version {
        case .three: if now - lastHeard > interval + timeout { end() }
        case .four where awaitsPong: if now - lastPing > timeout { end() }
        case .four:
            guard now - lastPing >= interval else { return }
            lastPing = now
            awaitsPong = true
            send(EnginePacket(.ping))
        }
    }

    // MARK: - Packets

    private func send(_ packet: EnginePacket) {
        guard case .open = state else { return }
        switch transport {
        case .webSocket(let socket): socket.send(packet.encoded)
        case .polling:
            unsent.append(packet)
            unsentCount += Self.cost(of: packet)
            guard unsentCount <= limits.unread else { return end() }
            flush()
        }
    }

    /// The number of bytes that a waiting packet counts towards `limits.unread`.
    static func cost(of packet: EnginePacket) -> Int { packet.text.utf8.count + 16 }

    func receive(_ packet: EnginePacket) {
        guard case .open = state else { return }
        lastHeard = .now()
        switch packet.kind {
        case .ping: send(EnginePacket(.pong, packet.text))
        case .pong: awaitsPong = false
        case .message:
            if isPolling, !isAdmitted {
                messagesLeft -= 1
                bytesLeft -= packet.text.utf8.count
                guard messagesLeft >= 0, bytesLeft >= 0 else { return end() }
            }
            onMessage(packet.text)
        case .close: end()
        case .open, .upgrade, .noop: break
        }
    }

    func received(_ text: String) {
        // An invalid packet ends the session on the original server as well.
        guard let packet = EnginePacket(parsing: text) else { return close() }
        receive(packet)
    }

    func listen(to socket: WebSocketConnection) {
        socket.onMessage = { [unowned self] text in received(text) }
        socket.onEnd = { [unowned self] in end() }
    }
}
