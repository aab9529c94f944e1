import CGLib
import MediaSessions
import Rooms
import SDP

/// A player's session, created by `POST /whep/ROOM` and ended by `DELETE` or the media layer.
struct PlayerSession: EndpointSession {
    let room: String
    let track: TrackName
    let media: MediaSessionID
    /// The media server that serves it.
    let side: any SessionServer
    /// The key that identifies this session when the media layer reports its end.
    let key: UInt64
    var ice: ICEGenerations

    /// The identifier for programs. The last segment of the URL can't serve as one, because it is secret.
    var visitor: String { "player-\(key)" }

    func take(candidates fragment: String) { side.remoteCandidates(media, fragment: fragment) }

    func restartICE(fragment: String) throws(MediaRefusal) -> RestartedSession {
        try side.restartICE(media, fragment: fragment)
    }

    func end(_ name: String, at site: Site) { site.endPlayer(name, self) }
}

/// The owner of a media session.
enum SessionOwner {
    case member(MemberID, TrackName)
    case player(String)
    /// A client of a one-to-one room.
    case caller(MemberID)
}

/// WHEP (draft-ietf-wish-whep, and RFC 9725 for what it shares with WHIP), for players that don't use our page.
extension Site {
    /// `/whep/ROOM`
    func playerEndpoint(_ exchange: HTTPExchange, room: String) {
        guard let (definition, headers) = enterEndpoint(exchange, room: room, for: .viewing) else { return }
        switch exchange.method {
        case "POST": open(exchange, definition, headers)
        case "GET", "HEAD":
            exchange.answer(
                HTTPResponse(
                    200, headers: headers + [("Accept-Post", Self.descriptionType)],
                    contentType: Self.descriptionType, body: []))
        default: exchange.answer(Self.noSuchMethod(headers))
        }
    }

    /// The number of viewers in `room` over WHEP or socket.io.
    func playerCount(in room: String) -> Int {
        playerSessions.values.count { $0.room == room } + (socketIO.hasClient(in: room) ? 1 : 0)
    }

    /// Handles the end of a player's session by the media layer.
    func playerSessionEnded(_ name: String, reason: String) {
        guard let session = playerSessions.removeValue(forKey: name) else { return }
        log("room \(session.room): a player's session ended: \(reason)", of: address(of: session.visitor))
        left(session.visitor)
        countAudience(of: session.room)
    }

    /// Ends a player's session from the server's side.
    func endPlayer(_ name: String, _ session: PlayerSession) {
        playerSessions[name] = nil
        sessionOwners[session.key] = nil
        session.side.close(session.media)
        log("room \(session.room): a player left", of: address(of: session.visitor))
        left(session.visitor)
        countAudience(of: session.room)
    }

    private func open(_ exchange: HTTPExchange, _ room: RoomDefinition, _ headers: [(String, String)]) {
        guard let offer = postedOffer(exchange, headers) else { return }
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
            return exchange.answer(Self.tooManySessions(headers))
        }
        let name = Self.newIdentifier()
        do throws(MediaRefusal) {
            let (session, key, side) = try openSession(
                in: room.name, track: address.track, offer: offer, for: .player(name))
            let player = PlayerSession(
                room: room.name, track: address.track, media: session.id, side: side, key: key,
                ice: ICEGenerations(of: generation, tag: session.entityTag))
            playerSessions[name] = player
            log("room \(room.name): a player came from \(exchange.clientAddress)", of: exchange.clientAddress)
            let who = Visitor(id: player.visitor, name: nil, address: exchange.clientAddress, kind: .player)
            came(who, to: room.name, track: address.track) { [unowned self] in
                if let player = playerSessions[name] { endPlayer(name, player) }
            }
            countAudience(of: room.name)
            let location = "/whep/\(PercentCoding.encode(room.name))/\(name)"
            exchange.answer(Self.created(session, at: location, player.ice, headers))
        } catch {
            log(
                "room \(room.name): a player's offer from \(exchange.clientAddress) was refused: \(error)",
                of: exchange.clientAddress)
            exchange.answer(Self.answer(to: error, headers))
        }
    }
}

// MARK: - Sessions of the media layer

extension Site {
    /// Has the media layer of a track answer `offer`, and records the session's owner. Without `track`, the room's
    /// first track is meant.
    func openSession(
        in room: String, track: TrackName? = nil, offer: String, for owner: SessionOwner
    ) throws(MediaRefusal) -> (session: OpenedSession, key: UInt64, side: any SessionServer) {
        guard let media = media[room, track] else { throw .unsupported("nothing is shared in this room now") }
        lastSessionKey += 1
        let key = lastSessionKey
        let session = try media.open(offer: offer) { [thread] reason in
            thread.post { $0.sessionEnded(key, reason: reason) }
        }
        sessionOwners[key] = owner
        return (session, key, media.sessions)
    }

    /// Has the media layer of a track make an offer, and records the session's owner.
    func offerSession(
        of address: TrackAddress, for owner: SessionOwner
    ) throws(MediaRefusal) -> (session: OfferedSession, key: UInt64, side: any SessionServer) {
        guard let media = tracks[address]?.media else { throw .unsupported("this track is shared no more") }
        lastSessionKey += 1
        let key = lastSessionKey
        let session = try media.offer { [thread] reason in thread.post { $0.sessionEnded(key, reason: reason) } }
        sessionOwners[key] = owner
        return (session, key, media.sessions)
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
