import CGLib
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
/// Pages of other origins are always refused, whatever credentials they have, and no response has a CORS header.
extension Site {
    func administration(_ exchange: HTTPExchange, _ path: ArraySlice<String>) {
        if let refusal = refusal(for: exchange) { return exchange.answer(refusal) }
        let names = Array(path)
        switch names.count {
        case 1 where names[0] == "rooms":
            answer(exchange, "GET") { Self.document(RoomsDocument(report())) }
        case 2 where names[0] == "rooms":
            answer(exchange, "GET") {
                let room = RoomsDocument(report()).rooms.first { $0.name == names[1] }
                return room.map { Self.document($0) } ?? Self.problem(404, "no such room")
            }
        case 4 where names[0] == "rooms" && names[2] == "members":
            answer(exchange, "DELETE") {
                guard let visitor = visitors[names[3]], visitor.room == names[1] else {
                    return Self.problem(404, "no such member")
                }
                _ = kick(visitor.who.id)
                return HTTPResponse(204, headers: Self.commonHeaders + [("Cache-Control", "no-store")])
            }
        case 1 where names[0] == "events": events(exchange)
        case 1 where command(names[0], exchange): break
        default: exchange.answer(Self.problem(404, "not found"))
        }
    }

    private func refusal(for exchange: HTTPExchange) -> HTTPResponse? {
        guard let adminAccess else { return Self.problem(404, "not found") }
        guard adminAccess.allowsNetwork || ClientAddress.isLoopback(exchange.clientAddress) else {
            return Self.problem(403, "not from this address")
        }
        guard case .ours = origin(of: exchange) else { return Self.problem(403, "not from this origin") }
        if adminAccess.token.matches(Self.bearer(exchange.header("Authorization")) ?? "") { return nil }
        guard attempts.note(exchange.clientAddress, now: attemptClock()) else {
            return Self.problem(429, "too many attempts", [("Retry-After", "30")])
        }
        return Self.problem(401, "the administration's token is needed", [("WWW-Authenticate", "Bearer")])
    }

    func answer(_ exchange: HTTPExchange, _ method: String, _ work: () -> HTTPResponse) {
        // HEAD is answered like GET, without the body.
        guard exchange.method == method || (method == "GET" && exchange.method == "HEAD") else {
            let allowed = method == "GET" ? "GET, HEAD" : method
            return exchange.answer(Self.problem(405, "not possible", [("Allow", allowed)]))
        }
        exchange.answer(work())
    }

    private static func document(_ value: some Encodable) -> HTTPResponse { json(200, value.jsonLine) }

    static func problem(
        _ status: UInt32, _ words: String, _ headers: [(String, String)] = []
    ) -> HTTPResponse {
        json(status, ["error": words].jsonLine, headers)
    }

    static func json(_ status: UInt32, _ text: String, _ headers: [(String, String)] = []) -> HTTPResponse {
        HTTPResponse(
            status, headers: commonHeaders + [("Cache-Control", "no-store")] + headers,
            contentType: "application/json", body: Array(text.utf8))
    }
}

/// The administration settings as the site keeps them.
struct AdministrationAccess {
    let token: AccessToken
    let allowsNetwork: Bool

    init(_ administration: Administration) {
        token = AccessToken(administration.token)
        allowsNetwork = administration.allowsNetwork
    }
}
