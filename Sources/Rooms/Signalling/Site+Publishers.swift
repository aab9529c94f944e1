import CGLib
import Rooms
import SDP

/// A publisher's session: what `POST /whip/ROOM[/TRACK]` made, until `DELETE` or the media side ends it.
struct PublisherSession {
    let room: String
    let track: TrackName
    let media: MediaSessionID
    /// What programs name it by; its URL's last segment is a secret.
    var visitor: String { "publisher-\(media.rawValue)" }
    var tag: EntityTag
    /// The ICE generation of the publisher's offer, or of its last restart.
    var generation: TrickleFragment
    /// The one before a restart.
    var formerGeneration: TrickleFragment?
}

/// WHIP (RFC 9725): programs that send a room's pictures, such as OBS, GStreamer and FFmpeg.
extension Site {
    /// `/whip/ROOM` and `/whip/ROOM/TRACK`
    func publisherEndpoint(_ exchange: HTTPExchange, room: String, track: String?) {
        let allowed = "OPTIONS, GET, HEAD, POST"
        if exchange.method == "OPTIONS" {
            return options(exchange, allowed, accept: ("Accept-Post", Self.descriptionType))
        }
        switch admit(exchange, to: room, for: .presenting) {
        case .refused(let response): exchange.answer(response)
        case .admitted(let definition, let headers):
            guard let publishing else {
                return exchange.answer(HTTPResponse(404, headers: headers, text: "this host takes no publishers"))
            }
            switch exchange.method {
            case "POST": publish(exchange, to: publishing, definition.name, track, headers)
            case "GET", "HEAD":
                exchange.answer(HTTPResponse(204, headers: headers + [("Accept-Post", Self.descriptionType)]))
            default:
                exchange.answer(HTTPResponse(405, headers: headers + [("Allow", allowed)], text: "not possible"))
            }
        }
    }

    /// `/whip/ROOM/TRACK/SESSION`. As with players, who knows the URL needs no token beside it.
    func publisherSession(_ exchange: HTTPExchange, room: String, session name: String) {
        let allowed = "OPTIONS, GET, HEAD, PATCH, DELETE"
        if exchange.method == "OPTIONS" {
            return options(exchange, allowed, accept: ("Accept-Patch", Self.fragmentType))
        }
        let session = publisherSessions[name].flatMap { $0.room == room ? $0 : nil }
        let headers: [(String, String)]
        if session != nil, exchange.header("Authorization") == nil {
            switch origin(of: exchange) {
            case .ours: headers = Self.commonHeaders
            case .allowed(let origin), .foreign(let origin): headers = Self.sharing(with: origin)
            case .malformed: return exchange.answer(Self.refusal(403))
            }
        } else {
            switch admit(exchange, to: room, for: .presenting) {
            case .refused(let response): return exchange.answer(response)
            case .admitted(_, let admitted): headers = admitted
            }
        }
        guard let session else { return exchange.answer(HTTPResponse(404, headers: headers, text: "no such session")) }
        switch exchange.method {
        case "PATCH": patch(exchange, name, session, headers)
        case "DELETE":
            endPublisher(name, session)
            exchange.answer(HTTPResponse(200, headers: headers))
        case "GET", "HEAD":
            exchange.answer(
                HTTPResponse(
                    204, headers: headers + [("ETag", session.tag.header), ("Accept-Patch", Self.fragmentType)]))
        default:
            exchange.answer(HTTPResponse(405, headers: headers + [("Allow", allowed)], text: "not possible"))
        }
    }

    /// The media side has ended a publisher's session.
    private func publisherEnded(_ name: String, reason: String) {
        guard let session = publisherSessions.removeValue(forKey: name) else { return }
        log("room \(session.room): the session of the publisher of \(session.track) ended: \(reason)")
        left(session.visitor)
    }

    /// Ends a publisher's session from this side.
    private func endPublisher(_ name: String, _ session: PublisherSession) {
        publisherSessions[name] = nil
        publishing?.close(session.media)
        log("room \(session.room): the publisher of \(session.track) left")
        left(session.visitor)
    }

    private func publish(
        _ exchange: HTTPExchange, to publishing: any TrackPublishing, _ room: String, _ track: String?,
        _ headers: [(String, String)]
    ) {
        guard exchange.contentType == Self.descriptionType else {
            let accept = ("Accept-Post", Self.descriptionType)
            return exchange.answer(
                HTTPResponse(415, headers: headers + [accept], text: "the offer must be of type application/sdp"))
        }
        guard let offer = exchange.bodyText, offer.hasPrefix("v="),
            let generation = try? TrickleFragment(parsing: Array(offer.utf8))
        else { return exchange.answer(HTTPResponse(400, headers: headers, text: "the body is not an SDP offer")) }
        // Where none is named, the first is meant.
        let wanted = if let track { TrackName(track) } else { directory.tracks(in: room).first ?? .screen }
        guard let track = wanted else {
            return exchange.answer(
                HTTPResponse(
                    404, headers: headers, text: "a track's name is 1 to 64 letters, digits, '-', '_' and '.'"))
        }
        guard mayEnter(from: exchange.clientAddress) else {
            return exchange.answer(
                HTTPResponse(
                    429, headers: headers + [("Retry-After", "30")], text: "too many sessions at once"))
        }
        let name = Self.newIdentifier()
        do throws(PublishingRefusal) {
            let session = try publishing.publish(offer: offer, room: room, track: track.text) { [thread] reason in
                thread.post { $0.publisherEnded(name, reason: reason) }
            }
            let tag = EntityTag(text: session.entityTag)
            let publisher = PublisherSession(
                room: room, track: track, media: session.id, tag: tag, generation: generation)
            publisherSessions[name] = publisher
            log("room \(room): a publisher of \(track) came from \(exchange.clientAddress)")
            let who = Visitor(id: publisher.visitor, name: nil, address: exchange.clientAddress, kind: .publisher)
            came(who, to: room, track: track) { [unowned self] in
                if let publisher = publisherSessions[name] { endPublisher(name, publisher) }
            }
            let location = "/whip/\(PercentCoding.encode(room))/\(track)/\(name)"
            exchange.answer(
                HTTPResponse(
                    201,
                    headers: headers + [
                        ("Location", location), ("ETag", tag.header), ("Accept-Patch", Self.fragmentType),
                        ("Cache-Control", "no-store"),
                    ], contentType: Self.descriptionType, body: Array(session.answer.utf8)))
        } catch {
            log("room \(room): a publisher's offer from \(exchange.clientAddress) was refused: \(error)")
            switch error {
            case .offer(let refusal): exchange.answer(Self.answer(to: refusal, headers))
            case .taken(let why): exchange.answer(HTTPResponse(409, headers: headers, text: why))
            }
        }
    }

    // MARK: ICE

    /// Candidates that the publisher finds later, which an ICE-lite host needs none of, or new credentials: a restart.
    private func patch(
        _ exchange: HTTPExchange, _ name: String, _ session: PublisherSession, _ headers: [(String, String)]
    ) {
        func refuse(_ status: UInt32, _ text: String, _ more: [(String, String)] = []) {
            exchange.answer(HTTPResponse(status, headers: headers + more, text: text))
        }
        guard exchange.contentType == Self.fragmentType else {
            let accept = ("Accept-Patch", Self.fragmentType)
            return refuse(415, "the fragment must be of type \(Self.fragmentType)", [accept])
        }
        guard let text = exchange.bodyText, let fragment = try? TrickleFragment(parsing: Array(text.utf8)) else {
            return refuse(400, "the body is not a fragment of SDP")
        }
        guard session.tag.matches(exchange.header("If-Match")) else {
            return refuse(412, "If-Match names another state of this session")
        }
        if fragment.isTrickle(for: session.generation) {
            return exchange.answer(HTTPResponse(204, headers: headers))
        }
        if let former = session.formerGeneration, fragment.isTrickle(for: former) {
            return refuse(412, "ICE has been restarted since these candidates were found")
        }
        do throws(MediaRefusal) {
            guard let publishing else { throw .unsupported("this host takes no publishers") }
            let restarted = try publishing.restartICE(session.media, fragment: text)
            let tag = EntityTag(text: restarted.entityTag)
            publisherSessions[name]?.tag = tag
            publisherSessions[name]?.generation = fragment
            publisherSessions[name]?.formerGeneration = session.generation
            exchange.answer(
                HTTPResponse(
                    200, headers: headers + [("ETag", tag.header), ("Cache-Control", "no-store")],
                    contentType: Self.fragmentType, body: Array(restarted.fragment.utf8)))
        } catch {
            log("room \(session.room): an ICE restart by \(exchange.clientAddress) was refused: \(error)")
            exchange.answer(Self.answer(to: error, headers))
        }
    }
}
