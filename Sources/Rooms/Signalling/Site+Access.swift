import CGLib
import Rooms

/// Admission: tokens, passwords, origins, expiry, and the limits for one address.
extension Site {
    /// The result of checking a request: the room with headers for the response, or a refusal.
    enum Admission {
        case admitted(RoomDefinition, headers: HTTPHeaders)
        case refused(HTTPResponse)
    }

    /// What a request wants to do in a room.
    enum Purpose {
        case viewing, presenting
    }

    /// Checks the token, password and origin of a request about `room`. A page of another origin needs an allowed
    /// origin or a secret of its own, which no other page can make a browser send for it.
    ///
    /// The token is checked first, and only wrong ones are counted, so nobody can cause a right token to be refused.
    func admit(_ exchange: HTTPExchange, to room: String, for purpose: Purpose = .viewing) -> Admission {
        let now = attemptClock()
        let address = exchange.clientAddress
        var key = Self.key(of: exchange, to: room)
        // The password isn't compared then. If the token is wrong, the response is the same as for any wrong token.
        let isLockedOut = key.password != nil && !passwords.mayTry(address, now: now)
        if isLockedOut { key.password = nil }
        let (grant, found) = directory.grant(to: key)
        guard let definition = found else {
            guard grant == .needsPassword else {
                return .refused(attempts.note(address, now: now) ? .refusal(401) : tooManyAttempts)
            }
            if isLockedOut { return .refused(tooManyAttempts) }
            if key.password != nil { passwords.note(address, now: now) }
            return .refused(.plain(401, "a password is needed", Self.passwordHeaders))
        }
        let headers: HTTPHeaders
        switch origin(of: exchange) {
        case .ours: headers = HTTPResponse.commonHeaders
        case .allowed(let origin): headers = HTTPResponse.sharing(with: origin)
        case .foreign(let origin) where !definition.access.isOpen || grant == .presenting:
            headers = HTTPResponse.sharing(with: origin)
        case .foreign, .malformed: return .refused(.refusal(403))
        }
        guard purpose == .viewing || grant == .presenting else {
            return .refused(HTTPResponse(403, headers: headers, text: "this token is for viewing"))
        }
        exchange.connection?.isAdmitted = true
        return .admitted(definition, headers: headers)
    }

    /// Refuses an address that makes too many requests, before the request is read.
    ///
    /// Requests with a right token, with a wrong one, and without any have separate limits, so no group can use up what
    /// another needs.
    func checkRate(of exchange: HTTPExchange) -> HTTPResponse? {
        let address = exchange.clientAddress
        let isTaken: Bool
        switch showsRightToken(exchange) {
        case nil where asksForWebSocket(exchange):
            // It gives its token later. Until then, only the number of connections limits it.
            isTaken = true
        case nil: isTaken = requests.take(address, now: g_get_monotonic_time())
        case true?: isTaken = requestsWithToken.take(address, now: g_get_monotonic_time())
        case false?:
            let now = attemptClock()
            // `/api` counts its failures itself, and has its own error messages.
            guard exchange.path?.first != "api", !attempts.mayTry(address, now: now) else { return nil }
            attempts.note(address, now: now)
            return tooManyAttempts
        }
        return isTaken ? nil : .plain(429, "too many requests", [("Retry-After", "1")])
    }

    /// Whether the token of a request is right, regardless of its password; nil if it has none or needs none.
    private func showsRightToken(_ exchange: HTTPExchange) -> Bool? {
        guard exchange.header("Authorization") != nil, let path = exchange.path else { return nil }
        let room: String
        switch path.first {
        case "whep", "whip": room = path.count > 1 ? path[1] : ""
        case "api":
            return adminAccess?.token.matches(exchange.bearer ?? "")
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

    /// Returns the room that a client at `address` may enter with `key`, and counts failures.
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

    /// Whether one more visitor from `address` may enter a room.
    func mayEnter(from address: String) -> Bool {
        guard !ClientAddress.isLoopback(address) else { return true }
        let key = ClientAddress.key(address)
        return visitors.values.count { ClientAddress.key($0.who.address) == key } < limits.visitorsPerAddress
    }

    /// Removes everybody from expired rooms.
    func tickAccess() {
        for action in directory.advance(to: lifetimeClock()) { carryOut(action) }
        for room in directory.roomNames where directory.hasExpired(room) && expiredRooms.insert(room).inserted {
            log("room \(room): its links have expired")
            onExpiry(room)
            // Members have been told already. These are players, publishers and the like.
            for visitor in Array(visitors.values) where visitor.room == room { visitor.kick() }
            countAudience(of: room)
        }
    }

    var tooManyAttempts: HTTPResponse {
        HTTPResponse.plain(429, "not allowed", [("Retry-After", "30")])
    }

    /// The headers that tell a client with the right token that a password is needed as well.
    private static var passwordHeaders: HTTPHeaders {
        [("WWW-Authenticate", "Bearer"), ("X-Room-Password", "needed")]
    }

    func origin(of exchange: HTTPExchange) -> RequestOrigin {
        RequestOrigin(header: exchange.header("Origin"), host: exchange.header("Host"), allowed: allowedOrigins)
    }

    /// Returns the credentials of a request: `Bearer TOKEN` and the header `X-Room-Password`, or `Bearer
    /// TOKEN,PASSWORD` from clients that can't send that header. The password is UTF-8 in percent-encoding, because
    /// browsers can't send anything else.
    static func key(of exchange: HTTPExchange, to room: String) -> RoomKey {
        let parts = (exchange.bearer ?? "")
            .split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        var password = parts.count > 1 ? String(parts[1]) : nil
        if let header = exchange.header("X-Room-Password") { password = header }
        let decoded = password.flatMap { PercentCoding.decode($0) } ?? ""
        return RoomKey(
            room: room, token: parts.first.map(String.init) ?? "", password: decoded.isEmpty ? nil : decoded)
    }
}
