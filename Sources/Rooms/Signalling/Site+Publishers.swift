import CGLib
import MediaSessions
import Rooms
import SDP

/// A publisher's session, created by `POST /whip/ROOM[/TRACK]` and ended by `DELETE` or the media layer.
struct PublisherSession: EndpointSession {
    let room: String
    let track: TrackName
    let media: MediaSessionID
    /// The receiver of what the publisher sends.
    let side: any TrackPublishing
    var ice: ICEGenerations

    /// The identifier for programs. The last segment of the URL can't serve as one, because it is secret.
    var visitor: String { "publisher-\(media.rawValue)" }

    /// Ignores the candidates, because an ICE-lite host needs none.
    func take(candidates fragment: String) {}

    func restartICE(fragment: String) throws(MediaRefusal) -> RestartedSession {
        try side.restartICE(media, fragment: fragment)
    }

    func end(_ name: String, at site: Site) { site.endPublisher(name, self) }
}

/// WHIP (RFC 9725), for programs that send a room's pictures, such as OBS, GStreamer and FFmpeg.
extension Site {
    /// `/whip/ROOM` and `/whip/ROOM/TRACK`
    func publisherEndpoint(_ exchange: HTTPExchange, room: String, track: String?) {
        guard let (definition, headers) = enterEndpoint(exchange, room: room, for: .presenting) else { return }
        guard let publishing else {
            return exchange.answer(HTTPResponse(404, headers: headers, text: "this host takes no publishers"))
        }
        switch exchange.method {
        case "POST": publish(exchange, to: publishing, definition.name, track, headers)
        case "GET", "HEAD":
            exchange.answer(HTTPResponse(204, headers: headers + [("Accept-Post", Self.descriptionType)]))
        default: exchange.answer(Self.noSuchMethod(headers))
        }
    }

    /// Handles the end of a publisher's session by the media layer.
    private func publisherEnded(_ name: String, reason: String) {
        guard let session = publisherSessions.removeValue(forKey: name) else { return }
        log(
            "room \(session.room): the session of the publisher of \(session.track) ended: \(reason)",
            of: address(of: session.visitor))
        left(session.visitor)
    }

    /// Ends a publisher's session from the server's side.
    func endPublisher(_ name: String, _ session: PublisherSession) {
        publisherSessions[name] = nil
        session.side.close(session.media)
        log("room \(session.room): the publisher of \(session.track) left", of: address(of: session.visitor))
        left(session.visitor)
    }

    private func publish(
        _ exchange: HTTPExchange, to publishing: any TrackPublishing, _ room: String, _ track: String?,
        _ headers: [(String, String)]
    ) {
        guard let offer = postedOffer(exchange, headers) else { return }
        guard let generation = try? TrickleFragment(parsing: Array(offer.utf8)) else {
            return exchange.answer(Self.notAnOffer(headers))
        }
        // If no track is named, the first is meant.
        let wanted = if let track { TrackName(track) } else { directory.tracks(in: room).first ?? .screen }
        guard let track = wanted else {
            return exchange.answer(
                HTTPResponse(
                    404, headers: headers, text: "a track's name is 1 to 64 letters, digits, '-', '_' and '.'"))
        }
        guard mayEnter(from: exchange.clientAddress) else {
            return exchange.answer(Self.tooManySessions(headers))
        }
        let name = Self.newIdentifier()
        do throws(PublishingRefusal) {
            let session = try publishing.publish(offer: offer, room: room, track: track.text) { [thread] reason in
                thread.post { $0.publisherEnded(name, reason: reason) }
            }
            let publisher = PublisherSession(
                room: room, track: track, media: session.id, side: publishing,
                ice: ICEGenerations(of: generation, tag: session.entityTag))
            publisherSessions[name] = publisher
            log("room \(room): a publisher of \(track) came from \(exchange.clientAddress)", of: exchange.clientAddress)
            let who = Visitor(id: publisher.visitor, name: nil, address: exchange.clientAddress, kind: .publisher)
            came(who, to: room, track: track) { [unowned self] in
                if let publisher = publisherSessions[name] { endPublisher(name, publisher) }
            }
            let location = "/whip/\(PercentCoding.encode(room))/\(track)/\(name)"
            exchange.answer(Self.created(session, at: location, publisher.ice, headers))
        } catch {
            log(
                "room \(room): a publisher's offer from \(exchange.clientAddress) was refused: \(error)",
                of: exchange.clientAddress)
            switch error {
            case .offer(let refusal): exchange.answer(Self.answer(to: refusal, headers))
            case .taken(let why): exchange.answer(HTTPResponse(409, headers: headers, text: why))
            }
        }
    }
}
