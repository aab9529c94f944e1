import ByteCoding
import Clocks
import MediaTypes
import Rooms
import Threading

/// Decides which requests are admitted: checks host names, origins, tokens and passwords, and the limits for each
/// address.
///
/// Belongs to the site's thread.
final class Admission {
    /// The result of checking a request: the room with headers for the response, or a refusal.
    enum Verdict {
        case admitted(RoomDefinition, headers: HTTPHeaders)
        case refused(HTTPResponse)
    }

    /// The purpose of a request for a room.
    enum Purpose {
        case viewing, presenting
        /// Presenting by a member that has the turn, which a viewer's token allows.
        case presentingInTurn
    }

    /// Returns why a client with only the room token doesn't enter a room now, for people; nil if it does.
    var closure: (_ room: String) -> String? = { _ in nil }

    private let configuration: SignallingConfiguration
    /// Returns the access that a key grants, and the room that it opens.
    private let grant: (RoomKey) -> (grant: AccessGrant, room: RoomDefinition?)
    /// The token for `/api`; nil if `/api` can't be used.
    private var administrationToken: AccessToken?
    private let allowedOrigins: Set<String>
    private var hostNames: HostNames
    /// Attempts with a wrong token.
    private var attempts = FailedAttempts()
    /// Attempts with a right token and a wrong password.
    private var passwords = FailedAttempts()
    /// The rates of requests without a token, and of requests with a right token. Loopback isn't counted, because all
    /// clients behind a reverse proxy on this machine have that address.
    private var requests: AddressRateLimiter
    private var requestsWithToken: AddressRateLimiter

    init(
        _ configuration: SignallingConfiguration,
        grant: @escaping (RoomKey) -> (grant: AccessGrant, room: RoomDefinition?)
    ) {
        self.configuration = configuration
        self.grant = grant
        administrationToken = configuration.administration.map { AccessToken($0.token) }
        allowedOrigins = Set(configuration.allowedOrigins.map { $0.lowercased() })
        hostNames = HostNames(configuration, certificate: configuration.tls)
        let limits = configuration.limits
        requests = AddressRateLimiter(perSecond: limits.requestsPerSecond, burst: limits.requestsAtOnce)
        requestsWithToken = requests
    }

    /// Accepts the names of `certificate`.
    func use(_ certificate: TLSCertificate) {
        hostNames = HostNames(configuration, certificate: certificate)
    }

    /// Requires another token for `/api`, if that can be used.
    func use(administrationToken token: String) {
        if administrationToken != nil { administrationToken = AccessToken(token) }
    }

    /// Checks a request whose body hasn't arrived yet, whatever it is for. Returns a refusal, or nil.
    func check(_ exchange: HTTPExchange) -> HTTPResponse? {
        if let fault = exchange.proxyFault { return .plain(400, "\(fault)") }
        if let refusal = checkRate(of: exchange) { return refusal }
        return hostNames.accept(exchange.header("Host")) ? nil : .plain(421, hostNames.description)
    }

    func origin(of exchange: HTTPExchange) -> RequestOrigin {
        RequestOrigin(
            header: exchange.header("Origin"), host: exchange.header("Host"), isSecured: exchange.isSecured,
            allowed: allowedOrigins)
    }

    /// The headers of every response to a request that needs no token; nil if its origin can't be parsed.
    func sharingHeaders(for exchange: HTTPExchange) -> HTTPHeaders? {
        switch origin(of: exchange) {
        case .ours: HTTPResponse.commonHeaders
        case .allowed(let origin), .foreign(let origin): HTTPResponse.sharing(with: origin)
        case .malformed: nil
        }
    }
}

// MARK: - Rooms

extension Admission {
    /// Checks the token, password and origin of a request about `room`. A page of another origin is admitted only if
    /// its origin is allowed, or if the request carries a secret, which no other page can make the browser send.
    ///
    /// The token is checked first, and only wrong tokens are counted, so an attacker can't cause a right token to be
    /// refused.
    func admit(_ exchange: HTTPExchange, to room: String, for purpose: Purpose = .viewing) -> Verdict {
        let address = exchange.clientAddress
        let given = exchange.key(to: room)
        // The response to a wrong token is the same whether or not the password is dropped here.
        let key = limited(given, from: address)
        let (grant, found) = self.grant(key)
        guard let definition = found else {
            guard grant == .needsPassword else {
                return .refused(noteWrongToken(from: address) ? .refusal(401) : Self.tooManyAttempts)
            }
            if given.password != key.password { return .refused(Self.tooManyAttempts) }
            if key.password != nil { noteWrongPassword(from: address) }
            return .refused(
                .plain(
                    401, "this room needs its password too; send it in X-Room-Password",
                    [("WWW-Authenticate", "Bearer"), ("X-Room-Password", "needed")]))
        }
        let headers: HTTPHeaders
        switch origin(of: exchange) {
        case .ours: headers = HTTPResponse.commonHeaders
        case .allowed(let origin): headers = HTTPResponse.sharing(with: origin)
        case .foreign(let origin) where !definition.access.isOpen || grant == .presenting:
            headers = HTTPResponse.sharing(with: origin)
        case .foreign, .malformed: return .refused(.refusal(403))
        }
        if purpose == .viewing, grant != .presenting, let reason = closure(definition.name) {
            return .refused(HTTPResponse(423, headers: headers + [("Retry-After", "10")], text: reason))
        }
        guard purpose != .presenting || grant == .presenting else {
            return .refused(
                HTTPResponse(
                    403, headers: headers,
                    text: "this token lets you watch, but not publish; use the presenters' token"))
        }
        exchange.connection?.isAdmitted = true
        return .admitted(definition, headers: headers)
    }

    /// Whether `admit` lets in a request that is answered in any case, a preflight. A request without a secret doesn't
    /// count as a request with a wrong secret.
    func isLetIn(_ exchange: HTTPExchange, to room: String, for purpose: Purpose) -> Bool {
        let showsSecret = exchange.header("Authorization") != nil || exchange.header("X-Room-Password") != nil
        guard showsSecret || grant(exchange.key(to: room)).room != nil else { return false }
        if case .admitted = admit(exchange, to: room, for: purpose) { return true }
        return false
    }

    /// Returns the room with that name, or the first for an empty name, if any client may view it.
    func openRoom(_ name: String) -> RoomDefinition? { grant(RoomKey(room: name, token: "")).room }

    /// Returns the room that a client at `address` may enter with `key`, and counts failures.
    func room(openedBy key: RoomKey, from address: String) -> RoomDefinition? {
        let key = limited(key, from: address)
        let (grant, room) = self.grant(key)
        switch grant {
        case .refused: noteWrongToken(from: address)
        case .needsPassword where key.password != nil: noteWrongPassword(from: address)
        case .needsPassword, .viewing, .presenting: break
        }
        return room
    }

    /// Returns `key` without its password if a client at `address` has given too many wrong passwords. The password is
    /// then not compared, and a client with the right token is asked for it again.
    func limited(_ key: RoomKey, from address: String) -> RoomKey {
        var key = key
        if key.password != nil, !passwords.mayTry(address, now: configuration.attemptClock()) { key.password = nil }
        return key
    }

    /// Counts a wrong token. Returns whether the address was within its limit before.
    @discardableResult
    func noteWrongToken(from address: String) -> Bool {
        attempts.note(address, now: configuration.attemptClock())
    }

    /// Counts a wrong password in a request with a right token.
    func noteWrongPassword(from address: String) {
        passwords.note(address, now: configuration.attemptClock())
    }

    private static var tooManyAttempts: HTTPResponse { .plain(429, "not allowed", [("Retry-After", "30")]) }
}

// MARK: - Requests

extension Admission {
    /// Refuses an address that makes too many requests, before the request is read.
    ///
    /// Requests with a right token, with a wrong one, and without any have separate limits, so no group can use up what
    /// another needs:
    ///
    /// | token | limit |
    /// | --- | --- |
    /// | absent, to open a WebSocket | only the number of connections, because the client sends its token later |
    /// | absent, or wrong at a session's URL, which is enough | `requests`, except on loopback |
    /// | right | `requestsWithToken`, except on loopback |
    /// | wrong | `attempts`, except for `/api` and `/metrics`, which count their failures themselves |
    private func checkRate(of exchange: HTTPExchange) -> HTTPResponse? {
        let address = exchange.clientAddress
        switch shownToken(in: exchange) {
        case .absent where asksForWebSocket(exchange): return nil
        case .absent:
            if Loopback.contains(address) || requests.take(address, now: .now()) { return nil }
            return Self.tooManyRequests
        case .right:
            if Loopback.contains(address) || requestsWithToken.take(address, now: .now()) { return nil }
            return Self.tooManyRequests
        case .wrong:
            let countsItself = exchange.path?.first == "api" || exchange.path == ["metrics"]
            if countsItself || attempts.mayTry(address, now: configuration.attemptClock()) { return nil }
            noteWrongToken(from: address)
            return Self.tooManyAttempts
        }
    }

    private static var tooManyRequests: HTTPResponse {
        .plain(429, "too many requests come from this address; wait a second and try again", [("Retry-After", "1")])
    }

    private enum ShownToken {
        /// The request has no token, or needs none: not even if it has a wrong one.
        case absent
        case right, wrong
    }

    /// Whether the token of a request is right, regardless of its password.
    private func shownToken(in exchange: HTTPExchange) -> ShownToken {
        guard exchange.header("Authorization") != nil, let path = exchange.path else { return .absent }
        let room: String
        switch path.first {
        case "whep", "whip": room = path.count > 1 ? path[1] : ""
        case "api", "metrics":
            guard let administrationToken else { return .absent }
            return administrationToken.matches(exchange.bearer ?? "") ? .right : .wrong
        case "snapshot.png", "snapshot.jpg": room = exchange.query("room") ?? ""
        default: return .absent
        }
        var key = exchange.key(to: room)
        key.password = nil
        if grant(key).grant != .refused { return .right }
        switch (path.first, path.count) {
        // A session's URL. A token that isn't right may have been replaced since; if there is no such session, the
        // endpoint counts it.
        case ("whep", 3), ("whip", 4): return .absent
        default: return .wrong
        }
    }

    private func asksForWebSocket(_ exchange: HTTPExchange) -> Bool {
        guard exchange.wantsWebSocket, let path = exchange.path else { return false }
        return path.isEmpty || path == ["ws"] || path == ["socket.io"]
    }

    /// Checks a request to `/metrics`. A program on this machine needs no token, because it learns only how much is
    /// shared. Other requests are checked like requests to `/api`, including all requests through a proxy, because
    /// their client isn't known for sure. Returns a refusal, or nil.
    func checkMetrics(_ exchange: HTTPExchange) -> HTTPResponse? {
        let isForwarded =
            exchange.connection?.isOfProxy != false
            || Self.proxyHeaders.contains { exchange.header($0) != nil }
        guard !isForwarded, !exchange.isFromOtherSite, Loopback.contains(exchange.clientAddress),
            case .ours = origin(of: exchange), exchange.header("Authorization") == nil
        else { return checkAdministration(exchange) }
        return nil
    }

    /// The headers by which proxies show themselves.
    private static let proxyHeaders = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
    ]

    /// Checks a request to `/api`, or to `/metrics` from elsewhere. Pages of other origins are always refused, whatever
    /// credentials they have. Returns a refusal, or nil.
    func checkAdministration(_ exchange: HTTPExchange) -> HTTPResponse? {
        guard let administrationToken else {
            return .problem(404, "this host has no /api; start it with a token for it")
        }
        guard configuration.administration?.allowsNetwork == true || Loopback.contains(exchange.clientAddress)
        else { return .problem(403, "this can be used only on the host's own machine, unless the host has --api-lan") }
        guard case .ours = origin(of: exchange) else {
            return .problem(403, "this can't be used by other sites' pages")
        }
        if administrationToken.matches(exchange.bearer ?? "") { return nil }
        guard noteWrongToken(from: exchange.clientAddress) else {
            return .problem(
                429, "too many wrong tokens came from this address; wait 30 s and try again", [("Retry-After", "30")])
        }
        return .problem(401, "the token of /api is needed", [("WWW-Authenticate", "Bearer")])
    }
}
