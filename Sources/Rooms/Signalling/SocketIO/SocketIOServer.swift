import CGLib
import OneToOne
import Rooms

/// `/socket.io/`: Engine.IO 3 and 4 by polling and WebSocket, and socket.io's one-to-one rooms over it, as
/// `Protocol/socketio.md` says.
///
/// Belongs to the site's thread.
final class SocketIOServer {
    unowned let site: Site
    let alsoOtherJoined: Bool
    /// By the secret name that a client's requests carry.
    var sessions: [String: EngineSession] = [:]
    var clients: [MemberID: PairClient] = [:]
    /// The rooms that somebody is in, by name.
    var rooms: [String: PairRoom] = [:]

    init(site: Site, alsoOtherJoined: Bool) {
        self.site = site
        self.alsoOtherJoined = alsoOtherJoined
    }

    /// Whether all connections are gone.
    var isEmpty: Bool { sessions.isEmpty }

    func tick() {
        let now = g_get_monotonic_time()
        for client in Array(clients.values) {
            if let joinBy = client.joinBy, now > joinBy {
                client.joinBy = nil
                client.session.endIdle()
            }
        }
        for session in Array(sessions.values) { session.tick() }
    }

    /// Says goodbye to everybody.
    func stop() {
        for name in Array(rooms.keys) { handle(.hostGone, in: name) }
        for session in Array(sessions.values) { session.endWithHost() }
    }

    /// Ends all that is left.
    func abort() {
        for session in Array(sessions.values) { session.end() }
    }
}

// MARK: - Requests

extension SocketIOServer {
    /// Looks at a request whose body hasn't come yet.
    func admit(_ exchange: HTTPExchange) -> HTTPResponse? {
        guard exchange.method == "POST", exchange.path == ["socket.io"], let name = exchange.query("sid"),
            let session = sessions[name], let headers = sharing(exchange)
        else { return nil }
        return session.mayPost(on: exchange.connection) ? nil : .engineError(.badRequest, headers)
    }

    func handle(_ exchange: HTTPExchange) {
        guard let headers = sharing(exchange) else {
            return exchange.answer(.engineError(.forbidden, Site.commonHeaders))
        }
        if exchange.method == "OPTIONS" { return exchange.answer(Self.preflight(headers)) }
        do throws(EngineRequestError) {
            switch exchange.query("transport") {
            case "polling"? where !exchange.wantsWebSocket: try poll(exchange, headers)
            case "websocket"? where exchange.wantsWebSocket: try openWebSocket(exchange)
            case "polling"?, "websocket"?: throw .badRequest
            default: throw .unknownTransport
            }
        } catch {
            exchange.answer(.engineError(error, headers))
        }
    }

    private func poll(_ exchange: HTTPExchange, _ headers: [(String, String)]) throws(EngineRequestError) {
        let headers = headers + [("Cache-Control", "no-store")]
        guard let name = exchange.query("sid") else {
            guard exchange.method == "GET" else { throw .badMethod }
            try mayOpen(from: exchange.clientAddress)
            let session = open(exchange, socket: nil)
            return session.poll(exchange, headers)
        }
        guard let session = sessions[name] else { throw .unknownSession }
        guard session.isPolling else { throw .badRequest }
        switch exchange.method {
        case "GET": session.poll(exchange, headers)
        case "POST": session.post(exchange, headers)
        default: throw .badRequest
        }
    }

    private func openWebSocket(_ exchange: HTTPExchange) throws(EngineRequestError) {
        if let name = exchange.query("sid") {
            guard let session = sessions[name] else { throw .unknownSession }
            guard session.mayUpgrade else { throw .badRequest }
        } else {
            try mayOpen(from: exchange.clientAddress)
        }
        site.acceptWebSocket(exchange) { [unowned self] exchange, stream in
            let socket = WebSocketConnection(
                stream, of: exchange.connection, limits: site.limits, on: site.context)
            if let name = exchange.query("sid") {
                // What was so when the request came may be so no more.
                guard let session = sessions[name], session.mayUpgrade else { return socket.abort() }
                session.probe(socket)
            } else {
                guard (try? mayOpen(from: exchange.clientAddress)) != nil else { return socket.abort() }
                _ = open(exchange, socket: socket)
            }
            socket.start()
        }
    }

    private func mayOpen(from address: String) throws(EngineRequestError) {
        guard sessions.count < site.limits.engineSessions else { throw .tooManySessions }
        if ClientAddress.isLoopback(address) { return }
        let key = ClientAddress.key(address)
        guard clients.values.count(where: { ClientAddress.key($0.address) == key }) < Self.sessionsPerAddress else {
            throw .tooManySessions
        }
    }

    /// Without a connection of its own, a session costs nobody anything but its place.
    private static let sessionsPerAddress = 32

    /// Opens a session and greets its client.
    private func open(_ exchange: HTTPExchange, socket: WebSocketConnection?) -> EngineSession {
        let version = EngineVersion(parameter: exchange.query("EIO"))
        let name = Site.newIdentifier()
        let session = EngineSession(name: name, version: version, socket: socket, limits: site.limits)
        let member = MemberID(Site.newIdentifier())
        let joinBy = g_get_monotonic_time() + site.limits.joinTime.microseconds
        let client = PairClient(member: member, session: session, address: exchange.clientAddress, joinBy: joinBy)
        sessions[name] = session
        clients[member] = client
        session.onMessage = { [unowned self, unowned client] text in received(text, from: client) }
        session.onEnd = { [unowned self] in
            sessions[name] = nil
            ended(member)
        }
        session.greet()
        // Version 3 is in the one namespace without asking.
        if version == .three { connect(client) }
        return session
    }

    /// The headers by which the page that asks may read the answer; nil where its origin may not ask at all. The rule is that
    /// of WebSockets, for here too nothing in the request itself shows the token.
    private func sharing(_ exchange: HTTPExchange) -> [(String, String)]? {
        switch site.origin(of: exchange) {
        // A page has a picture or a script fetched from anywhere without naming itself, and each would open a session.
        case .ours where exchange.isFromOtherSite: nil
        case .ours: Site.commonHeaders
        // Clients of version 3 ask with credentials, always; there are none that mean anything here.
        case .allowed(let origin): Site.sharing(with: origin) + [("Access-Control-Allow-Credentials", "true")]
        case .foreign, .malformed: nil
        }
    }

    private static func preflight(_ headers: [(String, String)]) -> HTTPResponse {
        HTTPResponse(
            204,
            headers: headers + [
                ("Access-Control-Allow-Methods", "OPTIONS, GET, POST"),
                ("Access-Control-Allow-Headers", "Content-Type"), ("Access-Control-Max-Age", "600"),
            ])
    }
}

/// Why a request gets no session, by Engine.IO's numbers.
enum EngineRequestError: Int, Error {
    case unknownTransport = 0
    case unknownSession = 1
    case badMethod = 2
    case badRequest = 3
    case forbidden = 4
    /// Ours: as many sessions as there may be.
    case tooManySessions = 6

    var message: String {
        switch self {
        case .unknownTransport: "Transport unknown"
        case .unknownSession: "Session ID unknown"
        case .badMethod: "Bad handshake method"
        case .badRequest: "Bad request"
        case .forbidden: "Forbidden"
        case .tooManySessions: "Too many sessions"
        }
    }

    var status: UInt32 {
        switch self {
        case .forbidden: 403
        case .tooManySessions: 503
        default: 400
        }
    }
}

extension HTTPResponse {
    static func engineError(_ error: EngineRequestError, _ headers: [(String, String)]) -> HTTPResponse {
        let body = "{\"code\":\(error.rawValue),\"message\":\"\(error.message)\"}"
        return HTTPResponse(error.status, headers: headers, contentType: "application/json", body: Array(body.utf8))
    }
}
