import Clocks
import MediaTypes
import OutputLife
import Signalling

/// A publisher in a room of Janus' VideoRoom plugin, over a WebSocket.
///
/// Each request has a `transaction`, which its answer repeats. To a message for the plugin, the first answer is an
/// `ack`, and an `event` follows.
struct JanusService: PublishingService {
    /// The server forgets a session from which nothing comes for a minute.
    private static let keepAliveTime = Interval.seconds(25)

    private let url: String
    private let room: WebRTCServer.JanusRoom
    private let token: String?
    private let context: CancellableContext
    private var socket: JanusSocket?
    private var lastTransaction = 0
    /// The numbers of the session at the server, and of its handle for the plugin.
    private var session: Int64?
    private var handle: Int64?

    init(_ url: String, _ room: WebRTCServer.JanusRoom, token: String?, _ context: CancellableContext) {
        self.url = url
        self.room = room
        self.token = token
        self.context = context
    }

    mutating func publish(_ offer: String) throws(OutputError) -> String {
        socket = try JanusSocket(url, context)
        session = try request(JanusRequest(janus: "create")).identifier
        handle = try request(JanusRequest(janus: "attach", plugin: "janus.plugin.videoroom")).identifier
        guard session != nil, handle != nil else { throw OutputError("the server gives answers of an unknown kind") }
        let join = JanusRequest.Body(
            request: "join", ptype: "publisher", display: "ScreenRelay", room: room.name, pin: room.pin, token: token)
        _ = try request(JanusRequest(janus: "message", body: join))
        let publish = JanusRequest(
            janus: "message", body: JanusRequest.Body(request: "publish"), jsep: JanusRequest.Description(sdp: offer))
        let answer = try request(publish)
        guard let sdp = answer.answer else { throw OutputError("the server doesn't answer the offer") }
        return sdp
    }

    mutating func stay() throws(OutputError) {
        var keepAliveDue = MonotonicTime.now() + Self.keepAliveTime
        while let socket, !context.isOver {
            let message = try socket.next(until: keepAliveDue) { context.isOver }
            if let failure = message.flatMap({ JanusMessage($0) })?.failure { throw failure }
            if MonotonicTime.now() >= keepAliveDue {
                keepAliveDue = MonotonicTime.now() + Self.keepAliveTime
                try send(JanusRequest(janus: "keepalive"))
            }
        }
    }

    mutating func end() {
        // The handle and what it publishes end with the session.
        if session != nil { _ = try? request(JanusRequest(janus: "destroy")) }
        socket?.close()
    }

    /// Sends a request; returns its answer, or the event that follows the server's `ack`.
    private mutating func request(_ request: JanusRequest) throws(OutputError) -> JanusMessage {
        let transaction = try send(request)
        while let text = try socket?.next(until: .distantFuture) {
            guard let message = JanusMessage(text) else { continue }
            if message.transaction == transaction {
                if message.isAcknowledgement { continue }
                if let failure = message.failure { throw failure }
                return message
            }
            // Of others, only the end of it all matters here.
            if message.transaction == nil, let failure = message.failure { throw failure }
        }
        throw OutputError("the server doesn't answer")
    }

    /// Sends a request with what all of them have; returns its transaction.
    @discardableResult
    private mutating func send(_ request: JanusRequest) throws(OutputError) -> String {
        lastTransaction += 1
        let transaction = "\(lastTransaction)"
        var request = request
        request.transaction = transaction
        request.session = session
        request.token = token
        // Keep-alives and the end are the session's.
        if request.janus == "message" { request.handle = handle }
        try socket?.send(request.jsonLine)
        return transaction
    }
}
