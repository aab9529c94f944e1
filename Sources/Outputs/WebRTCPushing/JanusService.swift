import Clocks
import Foundation
import MediaTypes
import OutputLife

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
        (self.url, self.room, self.token, self.context) = (url, room, token, context)
    }

    mutating func publish(_ offer: String) throws(OutputError) -> String {
        socket = try JanusSocket(url, context)
        session = try request(["janus": "create"]).identifier
        handle = try request(["janus": "attach", "plugin": "janus.plugin.videoroom"]).identifier
        guard session != nil, handle != nil else { throw OutputError("the server gives answers of an unknown kind") }
        var join: [String: Any] = ["request": "join", "ptype": "publisher", "display": "ScreenRelay"]
        join["room"] =
            switch room.name {
            case .number(let number): number
            case .text(let text): text
            }
        join["pin"] = room.pin
        join["token"] = token
        _ = try request(["janus": "message", "body": join])
        // The offer has all candidates.
        let description: [String: Any] = ["type": "offer", "sdp": offer, "trickle": false]
        let answer = try request(["janus": "message", "body": ["request": "publish"], "jsep": description])
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
                try send(["janus": "keepalive"])
            }
        }
    }

    mutating func end() {
        // The handle and what it publishes end with the session.
        if session != nil { _ = try? request(["janus": "destroy"]) }
        socket?.close()
    }

    /// Sends a request; returns its answer, or the event that follows the server's `ack`.
    private mutating func request(_ words: [String: Any]) throws(OutputError) -> JanusMessage {
        let transaction = try send(words)
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

    @discardableResult
    private mutating func send(_ words: [String: Any]) throws(OutputError) -> String {
        lastTransaction += 1
        let transaction = "\(lastTransaction)"
        var words = words
        words["transaction"] = transaction
        words["session_id"] = session
        words["token"] = token
        // Keep-alives and the end are the session's.
        if words["janus"] as? String == "message" { words["handle_id"] = handle }
        guard let data = try? JSONSerialization.data(withJSONObject: words) else {
            throw OutputError("its room or its token can't be written as JSON", isFinal: true)
        }
        try socket?.send(String(decoding: data, as: UTF8.self))
        return transaction
    }
}

/// A message of the server's.
struct JanusMessage {
    private let words: [String: Any]

    /// Nil if the text isn't a JSON object.
    init?(_ text: String) {
        guard let words = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else { return nil }
        self.words = words
    }

    var transaction: String? { words["transaction"] as? String }
    private var kind: String? { words["janus"] as? String }
    var isAcknowledgement: Bool { kind == "ack" }

    /// The number of what was made.
    var identifier: Int64? {
        ((words["data"] as? [String: Any])?["id"] as? NSNumber)?.int64Value
    }

    /// The SDP answer in it.
    var answer: String? {
        let description = words["jsep"] as? [String: Any]
        return description?["type"] as? String == "answer" ? description?["sdp"] as? String : nil
    }

    private var pluginData: [String: Any]? {
        (words["plugindata"] as? [String: Any])?["data"] as? [String: Any]
    }

    /// Why what it tells of is the end; nil if it isn't.
    var failure: OutputError? {
        switch kind {
        case "error":
            return Self.failure((words["error"] as? [String: Any])?["code"], "the server")
        case "hangup", "detached": return OutputError("the server has ended the session")
        case "timeout": return OutputError("the server has forgotten the session")
        default: break
        }
        guard let data = pluginData else { return nil }
        if let code = data["error_code"] { return Self.failure(code, "the room") }
        if data["videoroom"] as? String == "destroyed" { return OutputError("the room has been closed") }
        // Our own; those of others have their numbers.
        if data["leaving"] as? String == "ok" || data["unpublished"] as? String == "ok" {
            return OutputError("the room has sent this publisher away")
        }
        return nil
    }

    /// What an error says, by its number: the text beside it may repeat what is secret.
    private static func failure(_ code: Any?, _ place: String) -> OutputError {
        let code = (code as? NSNumber)?.intValue ?? 0
        switch code {
        case 403, 405, 433:
            return OutputError("\(place) refuses this publisher's token or PIN (\(code))", isFinal: true)
        case 426: return OutputError("there is no such room (426)")
        // A killed publisher keeps its place until the server has missed its keep-alives for a minute.
        case 432: return OutputError("the room has no place for another publisher (432)", nameMayBeInUse: true)
        case 458, 459: return OutputError("the server has forgotten the session (\(code))")
        case 460: return OutputError("the server has no rooms: its VideoRoom plugin is missing (460)")
        default: return OutputError("\(place) refuses (\(code))")
        }
    }
}
