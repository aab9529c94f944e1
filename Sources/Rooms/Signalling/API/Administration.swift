import Clocks
import MediaTypes
import Rooms

/// Who may use `/api`.
public struct Administration: Sendable {
    /// The accepted Bearer token. It grants access to no room.
    public let token: String
    /// Whether other machines may use `/api`, not only this one.
    public let allowsNetwork: Bool
    /// The file that contains the token, so that people can find it; nil if there is none.
    public let tokenFile: String?

    public init(token: String, allowsNetwork: Bool, tokenFile: String? = nil) {
        self.token = token
        self.allowsNetwork = allowsNetwork
        self.tokenFile = tokenFile
    }
}

/// `/api`: the rooms and their members, the commands of the control socket, and the events, for clients with the
/// administration token (`Protocol/openapi.yaml`).
///
/// No response has a CORS header.
final class AdministrationAPI {
    private let admission: Admission
    private let presence: RoomPresence
    private let presenters: Presenters
    private let doors: Doors
    private let commands: CommandAnswers
    private let pushes: PushRoutes
    private let webSockets: WebSocketFront
    private let maxReaders: Int
    /// The WebSockets that read events.
    private var readers: [ObjectIdentifier: WebSocketConnection] = [:]

    init(
        _ configuration: SignallingConfiguration, webSockets: WebSocketFront, admission: Admission,
        presence: RoomPresence, presenters: Presenters, doors: Doors
    ) {
        commands = configuration.commands
        pushes = PushRoutes(commands: configuration.commands)
        maxReaders = configuration.limits.eventReaders
        (self.webSockets, self.admission, self.presence) = (webSockets, admission, presence)
        (self.presenters, self.doors) = (presenters, doors)
    }

    /// Handles a request to the path `names` below `/api`.
    func handle(_ exchange: HTTPExchange, _ names: [String]) {
        if let refusal = admission.checkAdministration(exchange) { return exchange.answer(refusal) }
        switch names.count {
        case 1 where names[0] == "rooms":
            answer(exchange, "GET") { Self.document(presence.report()) }
        case 2 where names[0] == "rooms":
            answer(exchange, "GET") {
                let room = presence.report().rooms.first { $0.name == names[1] }
                return room.map { Self.document($0) }
                    ?? .problem(404, "this host has no such room; GET /api/rooms lists those it has")
            }
        case 3 where names[0] == "rooms" && ["lock", "unlock"].contains(names[2]):
            answer(exchange, "POST") {
                doors.lock(names[2] == "lock", names[1])
                    ? Self.done : .problem(404, "this host has no such room; GET /api/rooms lists those it has")
            }
        case 4 where names[0] == "rooms" && names[2] == "waiting":
            answer(exchange, "POST") { decide(names[3], about: nil, in: names[1]) }
        case 5 where names[0] == "rooms" && names[2] == "waiting":
            answer(exchange, "POST") { decide(names[4], about: MemberID(names[3]), in: names[1]) }
        case 4 where names[0] == "rooms" && names[2] == "members":
            answer(exchange, "DELETE") {
                guard presence.removeParticipant(names[3], from: names[1]) else {
                    return .problem(404, "this room has no such member; GET /api/rooms lists those who are there")
                }
                return Self.done
            }
        case 6 where names[0] == "rooms" && names[2] == "members" && names[4] == "turn":
            answer(exchange, "POST") { decide(names[5], about: MemberID(names[3]), in: names[1], exchange) }
        case 1 where names[0] == "pushes":
            answer(exchange, "GET", "POST") { exchange.method == "POST" ? pushes.add(exchange) : pushes.list() }
        case 2 where names[0] == "pushes":
            answer(exchange, "DELETE") { pushes.change(names[1]) { .stop($0) } }
        case 3 where names[0] == "pushes" && names[2] == "restart":
            answer(exchange, "POST") { pushes.change(names[1]) { .restart($0) } }
        case 3 where names[0] == "pushes" && names[2] == "reload":
            answer(exchange, "POST") { pushes.reload(names[1], exchange) }
        case 1 where names[0] == "events": readEvents(exchange)
        case 1:
            guard let command = CommandRoute.all[names[0]] else { fallthrough }
            answer(exchange, command.method) { command.response(to: exchange, from: commands) }
        default: exchange.answer(.problem(404, "/api has nothing of that name; check the path"))
        }
    }

    private func answer(_ exchange: HTTPExchange, _ methods: String..., work: () -> HTTPResponse) {
        // HEAD is answered like GET, without the body.
        let all = methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }
        guard all.contains(exchange.method) else {
            let allowed = all.joined(separator: ", ")
            return exchange.answer(.problem(405, HTTPResponse.wrongMethod(allowed), [("Allow", allowed)]))
        }
        exchange.answer(work())
    }

    /// Carries out a decision about a member's turn to present.
    private func decide(
        _ word: String, about member: MemberID, in room: String, _ exchange: HTTPExchange
    ) -> HTTPResponse {
        guard let decision = TurnDecision(rawValue: word) else {
            return .problem(404, "a turn has only allow, decline and end; check the path")
        }
        var end: MonotonicTime?
        if let text = exchange.query("seconds") {
            guard decision == .allow, let seconds = TurnDecision.seconds(text) else {
                return .problem(400, "seconds is only for allow: a whole number from 1 to 31536000")
            }
            end = MonotonicTime.now() + Interval.seconds(Int64(seconds))
        }
        guard presenters.decide(decision, of: member, in: room, until: end) else {
            let wanted = decision == .end ? "may present" : "has asked to present"
            return .problem(409, "no such member of this room \(wanted); GET /api/rooms lists the turns")
        }
        return Self.done
    }

    /// Carries out a decision about a client that waits to be let in, or about all of them if `member` is nil.
    private func decide(_ word: String, about member: MemberID?, in room: String) -> HTTPResponse {
        guard let decision = EntryDecision(rawValue: word) else {
            return .problem(404, "a client that waits can only be admitted or refused; check the path")
        }
        guard doors.decide(decision, about: member, in: room) > 0 || member == nil else {
            return .problem(409, "no such client waits to be let into this room; GET /api/rooms lists them")
        }
        return Self.done
    }

    private static var done: HTTPResponse {
        HTTPResponse(204, headers: HTTPResponse.commonHeaders + [("Cache-Control", "no-store")])
    }

    private static func document(_ value: some Encodable) -> HTTPResponse { .json(200, value.jsonLine) }
}

// MARK: - Events

/// `GET /api/events`: the same events as `share` and `host` print with `--json`, over a WebSocket, one object per
/// message.
///
/// Messages to a slow reader are queued up to ``SignallingLimits/unread``; beyond that the reader is disconnected.
extension AdministrationAPI {
    private func readEvents(_ exchange: HTTPExchange) {
        guard exchange.method == "GET" else {
            return exchange.answer(.problem(405, HTTPResponse.wrongMethod("GET"), [("Allow", "GET")]))
        }
        guard exchange.wantsWebSocket else {
            return exchange.answer(
                .problem(426, "events are sent over a WebSocket; open one here", [("Upgrade", "websocket")]))
        }
        guard readers.count < maxReaders else {
            return exchange.answer(
                .problem(
                    503, "too many clients read events already; try again when one of them has ended",
                    [("Retry-After", "5")]))
        }
        webSockets.accept(exchange) { [unowned self] _, socket in
            socket.admit()
            let id = ObjectIdentifier(socket)
            readers[id] = socket
            socket.onEnd = { [unowned self] in readers[id] = nil }
            socket.start()
        }
    }

    /// Sends an event to all readers.
    func tell(_ event: String) {
        let frame = WebSocketFrame.text(event)
        for reader in Array(readers.values) { reader.send(frame: frame) }
    }
}
