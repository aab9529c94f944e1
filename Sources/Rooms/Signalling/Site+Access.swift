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
    /// The answer to a wrong token may be held back, by pausing `exchange`: it's to be answered at once all the same.
    func admit(_ exchange: HTTPExchange, to room: String, for purpose: Purpose = .viewing) -> Admission {
        let now = attemptClock()
        let address = exchange.clientAddress
        guard attempts.mayTry(address, now: now) else { return .refused(tooManyAttempts) }
        var key = Self.key(of: exchange, to: room)
        // Unseen, and not with an answer of its own, which would tell that the token is right.
        let isTired = key.password != nil && !mayCheckPassword(of: address)
        if isTired { key.password = nil }
        let (grant, found) = directory.grant(to: key)
        guard let definition = found else {
            guard grant == .needsPassword else { return .refused(wrongToken(exchange, now)) }
            if isTired { return .refused(tooManyAttempts) }
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
        return .admitted(definition, headers: headers)
    }

    /// Refuses an address that asks for too much, before its request is read.
    func checkRate(of exchange: HTTPExchange) -> HTTPResponse? {
        requests.take(exchange.clientAddress, now: g_get_monotonic_time())
            ? nil : Self.plain(429, "too many requests", [("Retry-After", "1")])
    }

    /// The room that a client of `address` may enter by `key`, with the account kept of what was wrong.
    func room(openedBy key: RoomKey, from address: String) -> RoomDefinition? {
        let now = attemptClock()
        guard attempts.mayTry(address, now: now) else { return nil }
        var key = key
        if key.password != nil, !mayCheckPassword(of: address) { key.password = nil }
        let (grant, room) = directory.grant(to: key)
        switch grant {
        case .refused: attempts.note(address, now: now)
        case .needsPassword where key.password != nil: passwords.note(address, now: now)
        case .needsPassword, .viewing, .presenting: break
        }
        return room
    }

    /// Whether a password from `address` may be looked at: not past so many wrong ones, nor more often than their hashes, which
    /// cost some milliseconds each, leave time for all else.
    func mayCheckPassword(of address: String) -> Bool {
        passwords.mayTry(address, now: attemptClock())
            && passwordChecks.take(address, now: g_get_monotonic_time())
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

    /// The answer to a wrong token, which says nothing, and on loopback takes longer the more there are of it.
    private func wrongToken(_ exchange: HTTPExchange, _ now: Int) -> HTTPResponse {
        attempts.note(exchange.clientAddress, now: now)
        let wait = attempts.wait(exchange.clientAddress, now: now)
        guard wait > 0 else { return Self.refusal(401) }
        exchange.pause()
        if heldAnswers.hold(for: wait, { exchange.resume() }) { return Self.refusal(401) }
        exchange.resume()
        return tooManyAttempts
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
