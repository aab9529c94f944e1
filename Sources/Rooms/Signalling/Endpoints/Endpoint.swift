import ByteCoding
import MediaSessions
import Rooms
import SDP
import Threading

/// An endpoint of WHEP (draft-ietf-wish-whep), for players that don't use our page, or of WHIP (RFC 9725), for programs
/// that send a room's pictures: `/whep/ROOM` or `/whip/ROOM[/TRACK]`, and the sessions that clients create there. A
/// session's URL is valid until `DELETE` or until the media layer ends the session (RFC 9725 section 4.2).
final class Endpoint {
    /// What clients do here.
    enum Service {
        /// WHEP.
        case playing
        /// WHIP; nil if publishing isn't allowed.
        case publishing((any TrackPublishing)?)
    }

    private static let descriptionType = "application/sdp"
    static let fragmentType = "application/trickle-ice-sdpfrag"
    private static let acceptPost = ("Accept-Post", descriptionType)
    static let acceptPatch = ("Accept-Patch", fragmentType)
    private static let methods = "OPTIONS, GET, HEAD, POST"
    private static let sessionMethods = "OPTIONS, GET, HEAD, PATCH, DELETE"

    private let service: Service
    private let rooms: HostRooms
    private let admission: Admission
    private let presence: RoomPresence
    private let sessionEnds: SessionEnds
    private let iceServers: [ICEServer]
    private let presenters: Presenters
    let log: LogRateLimiter
    /// Keyed by the last segment of their URL.
    var sessions: [String: Session] = [:]

    init(
        for service: Service, rooms: HostRooms, admission: Admission, presence: RoomPresence, sessionEnds: SessionEnds,
        presenters: Presenters, iceServers: [ICEServer], log: LogRateLimiter
    ) {
        self.service = service
        self.rooms = rooms
        self.admission = admission
        self.presenters = presenters
        self.iceServers = iceServers
        self.presence = presence
        self.sessionEnds = sessionEnds
        self.log = log
    }

    private var isPlaying: Bool {
        if case .playing = service { true } else { false }
    }

    /// The access to `room` that a request needs. A visit that has the turn to present needs only a viewer's.
    private func purpose(of exchange: HTTPExchange, in room: String) -> Admission.Purpose {
        if isPlaying { return .viewing }
        return presenters.hasTurn(exchange.header("X-Visit"), in: room) ? .presentingInTurn : .presenting
    }

    /// Handles a request to the endpoint itself.
    func handle(_ exchange: HTTPExchange, room: String, track: String? = nil) {
        let purpose = purpose(of: exchange, in: room)
        if exchange.method == "OPTIONS" {
            let isLetIn = !iceServers.isEmpty && admission.isLetIn(exchange, to: room, for: purpose)
            return options(exchange, Self.methods, accept: Self.acceptPost, isLetIn ? iceServers.links() : [])
        }
        switch admission.admit(exchange, to: room, for: purpose) {
        case .refused(let response): exchange.answer(response)
        case .admitted(let room, let headers):
            exchange.answer(response(to: exchange, room.name, track, headers))
        }
    }

    private func response(
        to exchange: HTTPExchange, _ room: String, _ track: String?, _ headers: HTTPHeaders
    ) -> HTTPResponse {
        if case .publishing(nil) = service {
            return HTTPResponse(404, headers: headers, text: "this host takes no publishers")
        }
        switch exchange.method {
        case "POST": return open(exchange, room, track, headers)
        case "GET", "HEAD":
            let headers = headers + [Self.acceptPost]
            return isPlaying
                ? HTTPResponse(200, headers: headers, contentType: Self.descriptionType, body: [])
                : HTTPResponse(204, headers: headers)
        default: return .wrongMethod(Self.methods, headers)
        }
    }

    /// Handles a request to a session. Only the client that created the session knows its URL, so the URL is accepted
    /// instead of a token: some players send none here (MediaMTX's reader), and a token that others send may have been
    /// replaced since they entered.
    func handle(_ exchange: HTTPExchange, room: String, session name: String) {
        if exchange.method == "OPTIONS" { return options(exchange, Self.sessionMethods, accept: Self.acceptPatch) }
        guard let session = sessions[name], session.address.room == room else {
            // Only a client that may enter the room learns that there is no such session.
            switch admission.admit(exchange, to: room, for: purpose(of: exchange, in: room)) {
            case .refused(let response): return exchange.answer(response)
            case .admitted(_, let headers):
                let text = "the session is over; send a new offer"
                return exchange.answer(HTTPResponse(404, headers: headers, text: text))
            }
        }
        guard let headers = admission.sharingHeaders(for: exchange) else { return exchange.answer(.refusal(403)) }
        exchange.connection?.isAdmitted = true
        switch exchange.method {
        case "PATCH": exchange.answer(patch(exchange, name, session, headers))
        case "DELETE":
            let ending = Presenter.Ending(header: exchange.header("X-Ending"))
            end(name, ending.flatMap { session.presenter?.text(of: $0) })
            exchange.answer(HTTPResponse(200, headers: headers))
        case "GET", "HEAD":
            exchange.answer(HTTPResponse(204, headers: headers + [("ETag", session.ice.tag.header), Self.acceptPatch]))
        default: exchange.answer(.wrongMethod(Self.sessionMethods, headers))
        }
    }

    /// Answers a preflight. It carries no credentials and reveals nothing about rooms, so the response doesn't depend
    /// on the client, apart from the `links` of an admitted client.
    private func options(
        _ exchange: HTTPExchange, _ allowed: String, accept: (String, String), _ links: HTTPHeaders = []
    ) {
        guard let headers = admission.sharingHeaders(for: exchange) else { return exchange.answer(.refusal(403)) }
        exchange.answer(
            HTTPResponse(
                200,
                headers: headers + links + [
                    ("Allow", allowed), accept,
                    ("Access-Control-Allow-Methods", "OPTIONS, GET, HEAD, POST, PATCH, DELETE"),
                    (
                        "Access-Control-Allow-Headers",
                        "Authorization, Content-Type, If-Match, X-Ending, X-Room-Password, X-Visit"
                    ),
                    ("Access-Control-Max-Age", "600"),
                ]))
    }
}

// MARK: - The life of a session

extension Endpoint {
    /// What the offer of a client asks for, which it may have.
    private struct Request {
        let offer: String
        let generation: TrickleFragment
        let address: TrackAddress
        let client: String
        /// The member that publishes from our page; nil for another client.
        let member: RoomMember?
    }

    /// Why an offer isn't taken.
    private struct OfferRefusal: Error {
        let status: UInt32
        let text: String
        var headers: HTTPHeaders = []
    }

    /// Opens a session for the offer that a client has posted.
    private func open(
        _ exchange: HTTPExchange, _ room: String, _ track: String?, _ headers: HTTPHeaders
    ) -> HTTPResponse {
        let request: Request
        do throws(OfferRefusal) {
            request = try self.request(of: exchange, for: track, in: room)
        } catch {
            return HTTPResponse(error.status, headers: headers + error.headers, text: error.text)
        }
        do throws(PublishingError) {
            return try open(request, headers)
        } catch {
            let kind = isPlaying ? Participant.Kind.player : .publisher
            log(of: request.client).info(
                "room \(room): a \(kind.rawValue)'s offer from \(request.client) was refused: \(error)")
            switch error {
            case .offer(let refusal): return .refusal(refusal, headers)
            case .taken(let why): return HTTPResponse(409, headers: headers, text: why)
            }
        }
    }

    private func request(
        of exchange: HTTPExchange, for track: String?, in room: String
    ) throws(OfferRefusal) -> Request {
        let (offer, generation) = try offer(of: exchange)
        let address = try address(of: track, in: room)
        let client = exchange.clientAddress
        guard presence.mayEnter(from: client) else {
            throw OfferRefusal(
                status: 429, text: "this address has too many sessions; end one and try again",
                headers: [("Retry-After", "30")])
        }
        return Request(
            offer: offer, generation: generation, address: address, client: client,
            member: try publishingMember(of: exchange, in: room))
    }

    private func offer(of exchange: HTTPExchange) throws(OfferRefusal) -> (String, TrickleFragment) {
        guard exchange.contentType == Self.descriptionType else {
            throw OfferRefusal(
                status: 415, text: "the offer must be of type application/sdp", headers: [Self.acceptPost])
        }
        let noOffer = OfferRefusal(status: 400, text: "the body is not an SDP offer")
        guard let offer = exchange.bodyText, offer.hasPrefix("v=") else { throw noOffer }
        do throws(SDPError) {
            return (offer, try TrickleFragment(parsing: Array(offer.utf8)))
        } catch {
            throw isPlaying ? OfferRefusal(status: 400, text: error.description) : noOffer
        }
    }

    /// The track that is meant: the room's first one if none is named. A player's track must exist already.
    private func address(of track: String?, in room: String) throws(OfferRefusal) -> TrackAddress {
        let wanted = if let track { TrackName(track) } else { rooms.directory.tracks(in: room).first ?? .screen }
        let named = wanted.map { TrackAddress(room: room, track: $0) }
        guard let address = named, !isPlaying || rooms[address] != nil else {
            let grammar = "a track's name is 1 to 64 letters, digits, '-', '_' and '.'"
            throw OfferRefusal(status: 404, text: isPlaying ? "this room has no such track" : grammar)
        }
        return address
    }

    /// The member that publishes. A page publishes within its visit, so that the host notices the end of the page and
    /// knows its member.
    private func publishingMember(of exchange: HTTPExchange, in room: String) throws(OfferRefusal) -> RoomMember? {
        guard !isPlaying, let visit = exchange.header("X-Visit") else { return nil }
        guard let visitor = presenters.member(of: visit, in: room) else {
            throw OfferRefusal(status: 409, text: "the visit is over; join the room again")
        }
        guard visitor.mayPresent else {
            throw OfferRefusal(status: 403, text: "this visit may not present; join the room again")
        }
        return visitor
    }

    private func open(_ request: Request, _ headers: HTTPHeaders) throws(PublishingError) -> HTTPResponse {
        let (address, client, member) = (request.address, request.client, request.member)
        let presenter = member.map { presenters.presenter($0) }
        let name = newIdentifier()
        let ((opened, served), key) = try sessionEnds.expect { [unowned self] reason in
            ended(name, reason)
        } of: { (onEnd) throws(PublishingError) in
            try serve(request.offer, from: client, address, presenter, onEnd)
        }
        let kind: Participant.Kind = isPlaying ? .player : .publisher
        let who = Participant(id: "\(kind.rawValue)-\(key)", name: presenter?.name, address: client, kind: kind)
        let ice = ICEGenerations(of: request.generation, tag: opened.entityTag)
        sessions[name] = Session(address: address, who: who, served: served, key: key, ice: ice, presenter: presenter)
        if let member, let presenter {
            presenters.began(
                name,
                Presenters.Presentation(of: member.id, hasReceived: served.hasReceived) { [unowned self] in
                    end(name, presenter.text(of: $0))
                })
        }
        log(of: client).info(
            "room \(address.room): a \(isPlaying ? "player" : "publisher of \(address.track)") came from \(client)")
        let session = served.side.map { [address.track: ClientSession(id: opened.id, key: key, side: $0)] } ?? [:]
        presence.came(who, to: address.room, track: address.track, sessions: { session }) { [unowned self, member] in
            // Otherwise the page would publish again automatically.
            if let member { presenters.endTurn(of: member, .removed) }
            end(name, presenter?.text(of: .removed))
        }
        let path = PercentCoding.encode(address.room)
        let location = isPlaying ? "/whep/\(path)/\(name)" : "/whip/\(path)/\(address.track)/\(name)"
        return HTTPResponse(
            201,
            headers: headers + iceServers.links() + [
                ("Location", location), ("ETag", ice.tag.header), Self.acceptPatch, ("Cache-Control", "no-store"),
            ], contentType: Self.descriptionType, body: Array(opened.answer.utf8))
    }

    /// Opens a session for `offer` in the media layer. What is kept of it doesn't hold the answer.
    private func serve(
        _ offer: String, from client: String, _ address: TrackAddress, _ presenter: Presenter?,
        _ onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingError) -> (opened: OpenedSession, served: ServedSession) {
        if case .publishing(let publishing?) = service {
            let opened = try publishing.publish(
                offer: offer, room: address.room, track: address.track.text, presenter: presenter, onEnd: onEnd)
            let id = opened.id
            let served = ServedSession(
                side: nil, takeCandidates: { publishing.remoteCandidates(id, fragment: $0) },
                restartICE: { (fragment) throws(MediaSessionError) in
                    try publishing.restartICE(id, fragment: fragment)
                }, close: { publishing.close(id, reason: $0) },
                hasReceived: { publishing.hasReceived(id, since: $0) })
            return (opened, served)
        }
        do throws(MediaSessionError) {
            let media = try rooms.media(of: address.track, in: address.room).media
            let opened = try media.open(offer: offer, from: client, onEnd: onEnd)
            let (id, sessions) = (opened.id, media.sessions)
            let served = ServedSession(
                side: sessions, takeCandidates: { sessions.remoteCandidates(id, fragment: $0) },
                restartICE: { (fragment) throws(MediaSessionError) in
                    try sessions.restartICE(id, fragment: fragment)
                },
                close: { _ in sessions.close(id) })
            return (opened, served)
        } catch {
            throw .offer(error)
        }
    }

    /// Ends a session from the server's side. The viewers of a publisher are told `reason`.
    private func end(_ name: String, _ reason: String? = nil) {
        guard let session = sessions.removeValue(forKey: name) else { return }
        sessionEnds.forget(session.key)
        session.served.close(reason)
        presenters.ended(name)
        left(session, reason ?? (isPlaying ? "a player" : "the publisher of \(session.address.track)") + " left")
    }

    /// Cleans up after a session that the media layer has ended.
    private func ended(_ name: String, _ reason: String) {
        guard let session = sessions.removeValue(forKey: name) else { return }
        presenters.ended(name)
        let whose = isPlaying ? "a player's session" : "the session of the publisher of \(session.address.track)"
        left(session, "\(whose) ended: \(reason)")
    }

    private func left(_ session: Session, _ words: String) {
        log(of: session.who.address).info("room \(session.address.room): \(words)")
        presence.left(session.who.id)
    }

    /// Ends all sessions for a track that is about to be removed.
    func endAll(of address: TrackAddress) {
        for (name, session) in sessions where session.address == address { end(name) }
    }

    /// Ends all sessions, because the host is ending.
    func stop() {
        for session in sessions.values { session.served.close(nil) }
        sessions = [:]
    }
}
