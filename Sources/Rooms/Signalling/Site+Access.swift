import CGLib
import Rooms

/// Who gets in: tokens and passwords, origins, expiry, and what one address may ask for.
extension Site {
    /// What a request may do, and what its answer has to say to the browser about it.
    enum Admission {
        case admitted(RoomDefinition, headers: [(String, String)])
        case refused(HTTPResponse)
    }

    /// What a request wants of a room.
    enum Purpose {
        case viewing, presenting
    }

    /// Checks token, password and origin of a request about `room`. A page of another origin needs that origin allowed or a
    /// secret in its own hands, which no other page can have a browser send for it.
    ///
    /// The token is looked at first, and only wrong ones are counted: nobody can have a right one refused.
    func admit(_ exchange: HTTPExchange, to room: String, for purpose: Purpose = .viewing) -> Admission {
        let now = attemptClock()
        let address = exchange.clientAddress
        var key = Self.key(of: exchange, to: room)
        // The password isn't compared then. Where the token is wrong, the answer is that to a wrong token.
        let isLockedOut = key.password != nil && !passwords.mayTry(address, now: now)
        if isLockedOut { key.password = nil }
        let (grant, found) = directory.grant(to: key)
        guard let definition = found else {
            guard grant == .needsPassword else {
                return .refused(attempts.note(address, now: now) ? Self.refusal(401) : tooManyAttempts)
            }
            if isLockedOut { return .refused(tooManyAttempts) }
            if key.password != nil { passwords.note(address, now: now) }
            return .refused(Self.plain(401, "a password is needed", Self.passwordHeaders))
        }
        let headers: [(String, String)]
        switch origin(of: exchange) {
        case .ours: headers = Self.commonHeaders
        case .allowed(let origin): headers = Self.sharing(with: origin)
        case .foreign(let origin) where !definition.access.isOpen || grant == .presenting:
            headers = Self.sharing(with: origin)
        case .foreign, .malformed: return .refused(Self.refusal(403))
        }
        guard purpose == .viewing || grant == .presenting else {
            return .refused(HTTPResponse(403, headers: headers, text: "this token is for viewing"))
        }
        exchange.connection?.isAdmitted = true
        return .admitted(definition, headers: headers)
    }

    /// Refuses an address that asks for too much, before its request is read.
    ///
    /// Requests with a right token, with a wrong one, and without any are limited apart from each other, so that nobody can
    /// use up what another one needs.
    func checkRate(of exchange: HTTPExchange) -> HTTPResponse? {
        let address = exchange.clientAddress
        let isTaken: Bool
        switch showsRightToken(exchange) {
        case nil where asksForWebSocket(exchange):
            // It shows its token later: until then only the number of connections limits it.
            isTaken = true
        case nil: isTaken = requests.take(address, now: g_get_monotonic_time())
        case true?: isTaken = requestsWithToken.take(address, now: g_get_monotonic_time())
        case false?:
            let now = attemptClock()
            // `/api` counts for itself, and has words of its own.
            guard exchange.path?.first != "api", !attempts.mayTry(address, now: now) else { return nil }
            attempts.note(address, now: now)
            return tooManyAttempts
        }
        return isTaken ? nil : Self.plain(429, "too many requests", [("Retry-After", "1")])
    }

    /// Whether the token of a request is right, whatever its password is; nil where it has none or needs none.
    private func showsRightToken(_ exchange: HTTPExchange) -> Bool? {
        guard exchange.header("Authorization") != nil, let path = exchange.path else { return nil }
        let room: String
        switch path.first {
        case "whep", "whip": room = path.count > 1 ? path[1] : ""
        case "api":
            return adminAccess?.token.matches(Self.bearer(exchange.header("Authorization")) ?? "")
        case "snapshot.png", "snapshot.jpg": room = exchange.query("room") ?? ""
        default: return nil
        }
        var key = Self.key(of: exchange, to: room)
        key.password = nil
        return directory.grant(to: key).grant != .refused
    }

    private func asksForWebSocket(_ exchange: HTTPExchange) -> Bool {
        guard exchange.wantsWebSocket, let path = exchange.path else { return false }
        return path.isEmpty || path == ["ws"] || path == ["socket.io"]
    }

    /// The room that a client of `address` may enter by `key`, with the account kept of what was wrong.
    func room(openedBy key: RoomKey, from address: String) -> RoomDefinition? {
        let now = attemptClock()
        var key = key
        if key.password != nil, !passwords.mayTry(address, now: now) { key.password = nil }
        let (grant, room) = directory.grant(to: key)
        switch grant {
        case .refused: attempts.note(address, now: now)
        case .needsPassword where key.password != nil: passwords.note(address, now: now)
        case .needsPassword, .viewing, .presenting: break
        }
        return room
    }

    /// Whether one more from `address` may come into a room.
    func mayEnter(from address: String) -> Bool {
        guard !ClientAddress.isLoopback(address) else { return true }
        let key = ClientAddress.key(address)
        return visitors.values.count { ClientAddress.key($0.who.address) == key } < limits.visitorsPerAddress
    }

    /// Sends away who is in a room whose time is over.
    func tickAccess() {
        for action in directory.advance(to: lifetimeClock()) { carryOut(action) }
        for room in directory.roomNames where directory.hasExpired(room) && expiredRooms.insert(room).inserted {
            log("room \(room): its links have expired")
            onExpiry(room)
            // Members have been told; these are players, publishers and the like.
            for visitor in Array(visitors.values) where visitor.room == room { visitor.kick() }
            countAudience(of: room)
        }
    }

    var tooManyAttempts: HTTPResponse {
        Self.plain(429, "not allowed", [("Retry-After", "30")])
    }

    /// How a client that has the token finds out that there is a password as well.
    private static var passwordHeaders: [(String, String)] {
        [("WWW-Authenticate", "Bearer"), ("X-Room-Password", "needed")]
    }

    func origin(of exchange: HTTPExchange) -> RequestOrigin {
        RequestOrigin(header: exchange.header("Origin"), host: exchange.header("Host"), allowed: allowedOrigins)
    }

    /// The headers that let a page of `origin` read the answer (Fetch standard, CORS protocol).
    static func sharing(with origin: String) -> [(String, String)] {
        [
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "cross-origin"), ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Expose-Headers", "Location, ETag, Link, Accept-Patch, X-Room-Password"),
            ("Vary", "Origin"),
        ]
    }

    /// What a request knows: `Bearer TOKEN`, or `Bearer TOKEN,PASSWORD` from who can send no more than that, and the header
    /// `X-Room-Password`. A password is percent-encoded UTF-8: a browser can send no other.
    static func key(of exchange: HTTPExchange, to room: String) -> RoomKey {
        let parts = (bearer(exchange.header("Authorization")) ?? "")
            .split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        var password = parts.count > 1 ? String(parts[1]) : nil
        if let header = exchange.header("X-Room-Password") { password = header }
        let decoded = password.flatMap { PercentCoding.decode($0) } ?? ""
        return RoomKey(
            room: room, token: parts.first.map(String.init) ?? "", password: decoded.isEmpty ? nil : decoded)
    }

    /// The credentials of an Authorization header (RFC 6750 section 2.1).
    static func bearer(_ header: String?) -> String? {
        guard let header else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].trimmed
    }
}
