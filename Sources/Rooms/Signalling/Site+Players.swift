import CGLib
import Rooms
import SDP

/// A player's session: what `POST /whep/ROOM` made, until `DELETE` or the media side ends it.
struct PlayerSession {
    let room: String
    let media: MediaSessionID
    /// The key by which the media side's end of it comes back.
    let key: UInt64
    /// Names the present ICE generation.
    var tag: EntityTag
    /// The player's present ICE generation: that of its offer, or of its last restart.
    var generation: TrickleFragment
    /// The one before its last restart.
    var formerGeneration: TrickleFragment?
}

/// Whose session the media side has ended.
enum SessionOwner {
    case member(MemberID)
    case player(String)
}

/// WHEP (draft-ietf-wish-whep, RFC 9725 for what it shares with WHIP): players that have no page of ours.
extension Site {
    static let descriptionType = "application/sdp"
    static let fragmentType = "application/trickle-ice-sdpfrag"

    /// `/whep/ROOM`
    func playerEndpoint(_ exchange: HTTPExchange, room: String) {
        let allowed = "OPTIONS, GET, HEAD, POST"
        if exchange.method == "OPTIONS" {
            return options(exchange, allowed, accept: ("Accept-Post", Self.descriptionType))
        }
        switch admit(exchange, to: room) {
        case .refused(let response): exchange.answer(response)
        case .admitted(let definition, let headers):
            switch exchange.method {
            case "POST": open(exchange, definition, headers)
            case "GET", "HEAD":
                exchange.answer(
                    HTTPResponse(
                        200, headers: headers + [("Accept-Post", Self.descriptionType)],
                        contentType: Self.descriptionType, body: []))
            default:
                exchange.answer(HTTPResponse(405, headers: headers + [("Allow", allowed)], text: "not possible"))
            }
        }
    }

    /// `/whep/ROOM/SESSION`. The URL is a secret of who has the token, so it does for the token where none is sent
    /// (MediaMTX's reader sends none here).
    func playerSession(_ exchange: HTTPExchange, room: String, session name: String) {
        let allowed = "OPTIONS, GET, HEAD, PATCH, DELETE"
        if exchange.method == "OPTIONS" {
            return options(exchange, allowed, accept: ("Accept-Patch", Self.fragmentType))
        }
        let session = playerSessions[name].flatMap { $0.room == room ? $0 : nil }
        let headers: [(String, String)]
        if session != nil, exchange.header("Authorization") == nil {
            switch origin(of: exchange) {
            case .ours: headers = Self.commonHeaders
            case .allowed(let origin), .foreign(let origin): headers = Self.sharing(with: origin)
            case .malformed: return exchange.answer(Self.refusal(403))
            }
        } else {
            switch admit(exchange, to: room) {
            case .refused(let response): return exchange.answer(response)
            case .admitted(_, let admitted): headers = admitted
            }
        }
        guard let session else { return exchange.answer(HTTPResponse(404, headers: headers, text: "no such session")) }
        switch exchange.method {
        case "PATCH": patch(exchange, name, session, headers)
        case "DELETE":
            playerSessions[name] = nil
            sessionOwners[session.key] = nil
            media[session.room]?.close(session.media)
            log("room \(room): a player left")
            countAudience(of: room)
            exchange.answer(HTTPResponse(200, headers: headers))
        case "GET", "HEAD":
            exchange.answer(
                HTTPResponse(
                    204,
                    headers: headers + [("ETag", session.tag.header), ("Accept-Patch", Self.fragmentType)]))
        default:
            exchange.answer(HTTPResponse(405, headers: headers + [("Allow", allowed)], text: "not possible"))
        }
    }

    /// The media side has ended the player's session.
    func playerSessionEnded(_ name: String, reason: String) {
        guard let session = playerSessions.removeValue(forKey: name) else { return }
        log("room \(session.room): a player's session ended: \(reason)")
        countAudience(of: session.room)
    }

    private func open(_ exchange: HTTPExchange, _ room: RoomDefinition, _ headers: [(String, String)]) {
        guard exchange.contentType == Self.descriptionType else {
            let accept = ("Accept-Post", Self.descriptionType)
            return exchange.answer(
                HTTPResponse(415, headers: headers + [accept], text: "the offer must be of type application/sdp"))
        }
        guard let offer = exchange.bodyText, offer.hasPrefix("v=") else {
            return exchange.answer(HTTPResponse(400, headers: headers, text: "the body is not an SDP offer"))
        }
        let generation: TrickleFragment
        do throws(SDPError) {
            generation = try TrickleFragment(parsing: Array(offer.utf8))
        } catch {
            return exchange.answer(HTTPResponse(400, headers: headers, text: error.description))
        }
        let name = Self.newIdentifier()
        do throws(MediaRefusal) {
            let (session, key) = try openSession(in: room.name, offer: offer, for: .player(name))
            let tag = EntityTag(text: session.entityTag)
            playerSessions[name] = PlayerSession(
                room: room.name, media: session.id, key: key, tag: tag, generation: generation)
            log("room \(room.name): a player came from \(exchange.clientAddress)")
            countAudience(of: room.name)
            let location = "/whep/\(PercentCoding.encode(room.name))/\(name)"
            exchange.answer(
                HTTPResponse(
                    201,
                    headers: headers + [
                        ("Location", location), ("ETag", tag.header),
                        ("Accept-Patch", Self.fragmentType), ("Cache-Control", "no-store"),
                    ], contentType: Self.descriptionType, body: Array(session.answer.utf8)))
        } catch {
            log("room \(room.name): a player's offer from \(exchange.clientAddress) was refused: \(error)")
            exchange.answer(Self.answer(to: error, headers))
        }
    }

    /// What HTTP makes of a refusal by the media side.
    static func answer(to refusal: MediaRefusal, _ headers: [(String, String)]) -> HTTPResponse {
        let status: (UInt32, [(String, String)]) =
            switch refusal {
            case .badOffer: (400, [])
            case .unsupported: (422, [])
            case .full: (503, [("Retry-After", "5")])
            }
        return HTTPResponse(status.0, headers: headers + status.1, text: refusal.description)
    }

    /// A preflight carries no credentials and learns nothing of rooms: the same answer to everybody.
    private func options(_ exchange: HTTPExchange, _ allowed: String, accept: (String, String)) {
        var headers = Self.commonHeaders
        switch origin(of: exchange) {
        case .ours: break
        case .allowed(let origin), .foreign(let origin): headers = Self.sharing(with: origin)
        case .malformed: return exchange.answer(Self.refusal(403))
        }
        exchange.answer(
            HTTPResponse(
                200,
                headers: headers + [
                    ("Allow", allowed), accept,
                    ("Access-Control-Allow-Methods", "OPTIONS, GET, HEAD, POST, PATCH, DELETE"),
                    ("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match"),
                    ("Access-Control-Max-Age", "600"),
                ]))
    }
}

// MARK: - Sessions of the media side

extension Site {
    /// Has the media side of `room` answer `offer`, and remembers whose session it is.
    func openSession(
        in room: String, offer: String, for owner: SessionOwner
    ) throws(MediaRefusal) -> (session: OpenedSession, key: UInt64) {
        guard let media = media[room] else { throw .unsupported("this room has no picture") }
        lastSessionKey += 1
        let key = lastSessionKey
        let session = try media.open(offer: offer) { [thread] reason in
            thread.post { $0.sessionEnded(key, reason: reason) }
        }
        sessionOwners[key] = owner
        return (session, key)
    }

    private func sessionEnded(_ key: UInt64, reason: String) {
        switch sessionOwners.removeValue(forKey: key) {
        case .member(let member): memberSessionEnded(member, reason: reason)
        case .player(let name): playerSessionEnded(name, reason: reason)
        case nil: break
        }
    }
}
