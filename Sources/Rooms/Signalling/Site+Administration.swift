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
/// No response has a CORS header.
extension Site {
    func administration(_ exchange: HTTPExchange, _ path: ArraySlice<String>) {
        if let refusal = admission.checkAdministration(exchange) { return exchange.answer(refusal) }
        let names = Array(path)
        switch names.count {
        case 1 where names[0] == "rooms":
            answer(exchange, "GET") { Self.document(RoomsDocument(report())) }
        case 2 where names[0] == "rooms":
            answer(exchange, "GET") {
                let room = RoomsDocument(report()).rooms.first { $0.name == names[1] }
                return room.map { Self.document($0) } ?? .problem(404, "no such room")
            }
        case 4 where names[0] == "rooms" && names[2] == "members":
            answer(exchange, "DELETE") {
                guard let visitor = visitors[names[3]], visitor.room == names[1] else {
                    return .problem(404, "no such member")
                }
                _ = kick(visitor.who.id)
                return HTTPResponse(204, headers: HTTPResponse.commonHeaders + [("Cache-Control", "no-store")])
            }
        case 1 where names[0] == "events": events(exchange)
        case 1 where command(names[0], exchange): break
        default: exchange.answer(.problem(404, "not found"))
        }
    }

    func answer(_ exchange: HTTPExchange, _ method: String, _ work: () -> HTTPResponse) {
        // HEAD is answered like GET, without the body.
        guard exchange.method == method || (method == "GET" && exchange.method == "HEAD") else {
            let allowed = method == "GET" ? "GET, HEAD" : method
            return exchange.answer(.problem(405, "not possible", [("Allow", allowed)]))
        }
        exchange.answer(work())
    }

    private static func document(_ value: some Encodable) -> HTTPResponse { .json(200, RoomsDocument.json(value)) }
}
