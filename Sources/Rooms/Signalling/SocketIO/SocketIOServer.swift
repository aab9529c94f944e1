import MediaTypes
import SocketIORooms
import Threading

/// `/socket.io/`: Engine.IO 3 and 4 over polling and WebSocket, with the one-to-one rooms of socket.io on top, as
/// specified in `Protocol/socketio.md`.
///
/// It belongs to the site's thread.
final class SocketIOServer {
    private let limits: SignallingLimits
    private let webSockets: WebSocketFront
    private let admission: Admission
    private let clients: SocketIOClients
    /// Keyed by the secret identifier in a client's requests.
    private var sessions: [String: EngineSession] = [:]

    init(limits: SignallingLimits, webSockets: WebSocketFront, admission: Admission, clients: SocketIOClients) {
        self.limits = limits
        self.webSockets = webSockets
        self.admission = admission
        self.clients = clients
    }

    func tick() {
        clients.tick()
        for session in Array(sessions.values) { session.tick() }
    }

    /// Tells all clients that the host is ending.
    func stop() {
        clients.stop()
        for session in Array(sessions.values) { session.endWithHost() }
    }
}

// MARK: - Requests

extension SocketIOServer {
    /// Checks a request whose body hasn't arrived yet.
    func admit(_ exchange: HTTPExchange) -> HTTPResponse? {
        guard exchange.method == "POST", exchange.path == ["socket.io"], let name = exchange.query("sid"),
            let session = sessions[name], let headers = sharing(exchange)
        else { return nil }
        return session.mayPost(on: exchange.connection) ? nil : .engineError(.badRequest, headers)
    }

    func handle(_ exchange: HTTPExchange) {
        guard let headers = sharing(exchange) else {
            return exchange.answer(.engineError(.forbidden, HTTPResponse.commonHeaders))
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

    private func poll(_ exchange: HTTPExchange, _ headers: HTTPHeaders) throws(EngineRequestError) {
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
        webSockets.accept(exchange) { [unowned self] exchange, socket in
            if let name = exchange.query("sid") {
                // The state may have changed since the request arrived.
                guard let session = sessions[name], session.mayUpgrade else { return socket.abort() }
                session.probe(socket)
            } else {
                guard (try? mayOpen(from: exchange.clientAddress)) != nil else { return socket.abort() }
                _ = open(exchange, socket: socket)
            }
            socket.start()
        }
    }

    /// Makes room for another session from `address` by ending the oldest one outside a room, of the address that has
    /// the most: clients that only connect must not keep others out.
    private func mayOpen(from address: String) throws(EngineRequestError) {
        let key = ClientAddress.key(address)
        let ofAddress = sessions.values.filter { ClientAddress.key($0.address) == key }
        let candidates: [EngineSession]
        if !Loopback.contains(address), ofAddress.count >= Self.sessionsPerAddress {
            candidates = ofAddress
        } else if sessions.count >= limits.engineSessions {
            candidates = Array(sessions.values)
        } else {
            return
        }
        let oldest = Crowd.firstToGo(of: candidates.filter { !$0.isAdmitted }.sorted { $0.opened < $1.opened }) {
            Loopback.contains($0.address) ? nil : $0.address
        }
        guard let oldest else { throw .tooManySessions }
        oldest.end()
    }

    /// A polling session needs no open connection, so the limit of connections doesn't limit the number of sessions.
    private static let sessionsPerAddress = 32

    /// Opens a session and greets its client.
    private func open(_ exchange: HTTPExchange, socket: WebSocketConnection?) -> EngineSession {
        let version = EngineVersion(parameter: exchange.query("EIO"))
        let name = newIdentifier()
        let session = EngineSession(
            name: name, version: version, socket: socket, address: exchange.clientAddress, limits: limits)
        sessions[name] = session
        clients.open(session) { [unowned self] in sessions[name] = nil }
        return session
    }

    /// Returns the headers that let the requesting page read the response; nil if its origin isn't allowed. The rule is
    /// the same as for WebSockets, because here too the request itself contains no token.
    private func sharing(_ exchange: HTTPExchange) -> HTTPHeaders? {
        switch admission.origin(of: exchange) {
        // A page can load an image or script from any site without sending its origin, and each request would open a
        // session.
        case .ours where exchange.isFromOtherSite: nil
        case .ours: HTTPResponse.commonHeaders
        // Clients of version 3 always send credentials, though none have a meaning here.
        case .allowed(let origin): HTTPResponse.sharing(with: origin) + [("Access-Control-Allow-Credentials", "true")]
        case .foreign, .malformed: nil
        }
    }

    private static func preflight(_ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(
            204,
            headers: headers + [
                ("Access-Control-Allow-Methods", "OPTIONS, GET, POST"),
                ("Access-Control-Allow-Headers", "Content-Type"), ("Access-Control-Max-Age", "600"),
            ])
    }
}

/// Why a request gets no session, with Engine.IO's error numbers.
enum EngineRequestError: Int, Error {
    case unknownTransport = 0
    case unknownSession = 1
    case badMethod = 2
    case badRequest = 3
    case forbidden = 4
    /// Our extension: the limit of sessions is reached.
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
    static func engineError(_ error: EngineRequestError, _ headers: HTTPHeaders) -> HTTPResponse {
        let body = "{\"code\":\(error.rawValue),\"message\":\"\(error.message)\"}"
        return HTTPResponse(error.status, headers: headers, contentType: "application/json", body: Array(body.utf8))
    }
}
