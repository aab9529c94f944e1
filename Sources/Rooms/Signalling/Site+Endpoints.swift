import CGLib
import MediaSessions
import Rooms
import SDP

/// The common part of WHIP (RFC 9725) and WHEP (draft-ietf-wish-whep), for publishers and players: endpoints, and the
/// sessions created at them.
extension Site {
    static let descriptionType = "application/sdp"
    static let fragmentType = "application/trickle-ice-sdpfrag"

    /// Returns the room of a request to an endpoint, and the headers of every response; nil if the request has been
    /// answered.
    func enterEndpoint(
        _ exchange: HTTPExchange, room: String, for purpose: Purpose
    ) -> (room: RoomDefinition, headers: [(String, String)])? {
        if exchange.method == "OPTIONS" {
            options(exchange, Self.endpointMethods, accept: ("Accept-Post", Self.descriptionType))
            return nil
        }
        switch admit(exchange, to: room, for: purpose) {
        case .refused(let response):
            exchange.answer(response)
            return nil
        case .admitted(let definition, let headers): return (definition, headers)
        }
    }

    /// The response to a method that endpoints don't support.
    static func noSuchMethod(_ headers: [(String, String)]) -> HTTPResponse {
        HTTPResponse(405, headers: headers + [("Allow", endpointMethods)], text: "not possible")
    }

    /// Returns the offer that a client has posted. If there is none, responds with an error and returns nil.
    func postedOffer(_ exchange: HTTPExchange, _ headers: [(String, String)]) -> String? {
        guard exchange.contentType == Self.descriptionType else {
            let accept = ("Accept-Post", Self.descriptionType)
            exchange.answer(
                HTTPResponse(415, headers: headers + [accept], text: "the offer must be of type application/sdp"))
            return nil
        }
        guard let offer = exchange.bodyText, offer.hasPrefix("v=") else {
            exchange.answer(Self.notAnOffer(headers))
            return nil
        }
        return offer
    }

    static func notAnOffer(_ headers: [(String, String)]) -> HTTPResponse {
        HTTPResponse(400, headers: headers, text: "the body is not an SDP offer")
    }

    static func tooManySessions(_ headers: [(String, String)]) -> HTTPResponse {
        HTTPResponse(429, headers: headers + [("Retry-After", "30")], text: "too many sessions at once")
    }

    /// The response to an offer that has created a session, with the session's URL.
    static func created(
        _ opened: OpenedSession, at location: String, _ ice: ICEGenerations, _ headers: [(String, String)]
    ) -> HTTPResponse {
        HTTPResponse(
            201,
            headers: headers + [
                ("Location", location), ("ETag", ice.tag.header), ("Accept-Patch", fragmentType),
                ("Cache-Control", "no-store"),
            ], contentType: descriptionType, body: Array(opened.answer.utf8))
    }

    /// The HTTP response for a refusal by the media layer.
    static func answer(to refusal: MediaRefusal, _ headers: [(String, String)]) -> HTTPResponse {
        let status: (UInt32, [(String, String)]) =
            switch refusal {
            case .badOffer: (400, [])
            case .unsupported: (422, [])
            case .full: (503, [("Retry-After", "5")])
            }
        return HTTPResponse(status.0, headers: headers + status.1, text: refusal.description)
    }

    private static let endpointMethods = "OPTIONS, GET, HEAD, POST"

    /// Answers a preflight. It carries no credentials and reveals nothing about rooms, so everybody gets the same
    /// response.
    private func options(_ exchange: HTTPExchange, _ allowed: String, accept: (String, String)) {
        guard let headers = sharingHeaders(exchange) else { return exchange.answer(Self.refusal(403)) }
        exchange.answer(
            HTTPResponse(
                200,
                headers: headers + [
                    ("Allow", allowed), accept,
                    ("Access-Control-Allow-Methods", "OPTIONS, GET, HEAD, POST, PATCH, DELETE"),
                    ("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, X-Room-Password"),
                    ("Access-Control-Max-Age", "600"),
                ]))
    }

    /// The headers of every response to a request that needs no token; nil if its origin can't be parsed.
    private func sharingHeaders(_ exchange: HTTPExchange) -> [(String, String)]? {
        switch origin(of: exchange) {
        case .ours: Self.commonHeaders
        case .allowed(let origin), .foreign(let origin): Self.sharing(with: origin)
        case .malformed: nil
        }
    }
}

// MARK: - Sessions

extension Site {
    /// The sessions of one kind, keyed by the last segment of their URL.
    typealias EndpointSessions<Session> = ReferenceWritableKeyPath<Site, [String: Session]>

    /// Handles `/whep/ROOM/SESSION` and `/whip/ROOM/TRACK/SESSION`. The URL is secret to the client that has the token,
    /// so it replaces the token if none is sent (MediaMTX's reader sends none here).
    func endpointSession<Session: EndpointSession>(
        _ exchange: HTTPExchange, room: String, session name: String, among sessions: EndpointSessions<Session>,
        for purpose: Purpose
    ) {
        let allowed = "OPTIONS, GET, HEAD, PATCH, DELETE"
        if exchange.method == "OPTIONS" {
            return options(exchange, allowed, accept: ("Accept-Patch", Self.fragmentType))
        }
        let session = self[keyPath: sessions][name].flatMap { $0.room == room ? $0 : nil }
        let headers: [(String, String)]
        if session != nil, exchange.header("Authorization") == nil {
            guard let sharing = sharingHeaders(exchange) else { return exchange.answer(Self.refusal(403)) }
            headers = sharing
        } else {
            switch admit(exchange, to: room, for: purpose) {
            case .refused(let response): return exchange.answer(response)
            case .admitted(_, let admitted): headers = admitted
            }
        }
        guard let session else { return exchange.answer(HTTPResponse(404, headers: headers, text: "no such session")) }
        switch exchange.method {
        case "PATCH":
            let ice = patch(exchange, session, headers)
            self[keyPath: sessions][name]?.ice = ice
        case "DELETE":
            session.end(name, at: self)
            exchange.answer(HTTPResponse(200, headers: headers))
        case "GET", "HEAD":
            exchange.answer(
                HTTPResponse(
                    204, headers: headers + [("ETag", session.ice.tag.header), ("Accept-Patch", Self.fragmentType)]))
        default:
            exchange.answer(HTTPResponse(405, headers: headers + [("Allow", allowed)], text: "not possible"))
        }
    }

    /// Handles candidates that a client found later, or an ICE restart (RFC 9725 section 4.3). Returns the session's
    /// updated generations.
    private func patch(
        _ exchange: HTTPExchange, _ session: some EndpointSession, _ headers: [(String, String)]
    ) -> ICEGenerations {
        var ice = session.ice
        func refuse(_ status: UInt32, _ text: String, _ more: [(String, String)] = []) -> ICEGenerations {
            exchange.answer(HTTPResponse(status, headers: headers + more, text: text))
            return ice
        }
        guard exchange.contentType == Self.fragmentType else {
            let accept = ("Accept-Patch", Self.fragmentType)
            return refuse(415, "the fragment must be of type \(Self.fragmentType)", [accept])
        }
        guard let text = exchange.bodyText, let fragment = try? TrickleFragment(parsing: Array(text.utf8)) else {
            return refuse(400, "the body is not a fragment of SDP")
        }
        guard ice.tag.matches(exchange.header("If-Match")) else {
            return refuse(412, "If-Match names another state of this session")
        }
        switch ice.step(of: fragment) {
        case .trickle:
            session.take(candidates: text)
            exchange.answer(HTTPResponse(204, headers: headers))
        case .leftBehind: return refuse(412, "ICE has been restarted since these candidates were found")
        case .restart:
            do throws(MediaRefusal) {
                let restarted = try session.restartICE(fragment: text)
                ice.restart(with: fragment, tag: restarted.entityTag)
                exchange.answer(
                    HTTPResponse(
                        200, headers: headers + [("ETag", ice.tag.header), ("Cache-Control", "no-store")],
                        contentType: Self.fragmentType, body: Array(restarted.fragment.utf8)))
            } catch {
                log(
                    "room \(session.room): an ICE restart by \(exchange.clientAddress) was refused: \(error)",
                    of: exchange.clientAddress)
                exchange.answer(Self.answer(to: error, headers))
            }
        }
        return ice
    }
}
