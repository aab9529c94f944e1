import CGLib
import Rooms
import SDP

/// A player's session: what `POST /whep/ROOM` made, until `DELETE` or the media side ends it.
struct PlayerSession {
    let room: String
    let track: TrackName
    let media: MediaSessionID
    /// Who serves it.
    let side: any RoomMedia
    /// The key by which the media side's end of it comes back.
    let key: UInt64
    /// Names the present ICE generation.
    var tag: EntityTag
    /// The player's present ICE generation: that of its offer, or of its last restart.
    var generation: TrickleFragment
    /// The one before its last restart.
    var formerGeneration: TrickleFragment?

    /// What programs name it by; its URL's last segment is a secret.
    var visitor: String { "player-\(key)" }
}

/// Whose session the media side has ended.
enum SessionOwner {
    case member(MemberID, TrackName)
    case player(String)
    /// A client of a one-to-one room.
    case caller(MemberID)
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
            endPlayer(name, session)
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

    /// How many watch `room` by WHEP or socket.io.
    func playerCount(in room: String) -> Int {
        playerSessions.values.count { $0.room == room } + (socketIO.hasClient(in: room) ? 1 : 0)
    }

    /// The media side has ended the player's session.
    func playerSessionEnded(_ name: String, reason: String) {
        guard let session = playerSessions.removeValue(forKey: name) else { return }
        log("room \(session.room): a player's session ended: \(reason)")
        left(session.visitor)
        countAudience(of: session.room)
    }

    /// Ends a player's session from this side.
    func endPlayer(_ name: String, _ session: PlayerSession) {
        playerSessions[name] = nil
        sessionOwners[session.key] = nil
        session.side.close(session.media)
        log("room \(session.room): a player left")
        left(session.visitor)
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
        let wanted = exchange.query("track")
        guard let address = address(of: wanted.flatMap { TrackName($0) }, in: room.name), tracks[address] != nil,
            wanted == nil || wanted == address.track.text
        else {
            return exchange.answer(HTTPResponse(404, headers: headers, text: "this room has no such track"))
        }
        guard mayEnter(from: exchange.clientAddress) else {
            return exchange.answer(
                HTTPResponse(429, headers: headers + [("Retry-After", "30")], text: "too many sessions at once"))
        }
        let name = Self.newIdentifier()
        do throws(MediaRefusal) {
            let (session, key, side) = try openSession(
                in: room.name, track: address.track, offer: offer, for: .player(name))
            let tag = EntityTag(text: session.entityTag)
            let player = PlayerSession(
                room: room.name, track: address.track, media: session.id, side: side, key: key, tag: tag,
                generation: generation)
            playerSessions[name] = player
            log("room \(room.name): a player came from \(exchange.clientAddress)")
            let who = Visitor(id: player.visitor, name: nil, address: exchange.clientAddress, kind: .player)
            came(who, to: room.name, track: address.track) { [unowned self] in
                if let player = playerSessions[name] { endPlayer(name, player) }
            }
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
    func options(_ exchange: HTTPExchange, _ allowed: String, accept: (String, String)) {
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
                    ("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, X-Room-Password"),
                    ("Access-Control-Max-Age", "600"),
                ]))
    }
}

// MARK: - Sessions of the media side

extension Site {
    /// Has the media side of a track, the room's first where none is named, answer `offer`; remembers whose session it is.
    func openSession(
        in room: String, track: TrackName? = nil, offer: String, for owner: SessionOwner
    ) throws(MediaRefusal) -> (session: OpenedSession, key: UInt64, side: any RoomMedia) {
        guard let side = media[room, track] else { throw .unsupported("nothing is shared in this room now") }
        lastSessionKey += 1
        let key = lastSessionKey
        let session = try side.open(offer: offer) { [thread] reason in
            thread.post { $0.sessionEnded(key, reason: reason) }
        }
        sessionOwners[key] = owner
        return (session, key, side)
    }

    /// Has the media side of a track make an offer; remembers whose session it is.
    func offerSession(
        of address: TrackAddress, for owner: SessionOwner
    ) throws(MediaRefusal) -> (session: OfferedSession, key: UInt64, side: any RoomMedia) {
        guard let side = tracks[address]?.media else { throw .unsupported("this track is shared no more") }
        lastSessionKey += 1
        let key = lastSessionKey
        let session = try side.offer { [thread] reason in thread.post { $0.sessionEnded(key, reason: reason) } }
        sessionOwners[key] = owner
        return (session, key, side)
    }

    private func sessionEnded(_ key: UInt64, reason: String) {
        switch sessionOwners.removeValue(forKey: key) {
        case .member(let member, let track): memberSessionEnded(member, track, reason: reason)
        case .player(let name): playerSessionEnded(name, reason: reason)
        case .caller(let caller): socketIO.sessionEnded(caller)
        case nil: break
        }
    }
}
