import CGLib
import MediaSessions
import Rooms
import SocketIORooms

/// A socket.io client, for the lifetime of its session.
final class PairClient {
    let member: MemberID
    let session: EngineSession
    let address: String
    /// The deadline for joining (g_get_monotonic_time); nil once the client has joined.
    var joinBy: Int?
    /// Whether the client is in the namespace, which version 4 must ask for.
    var isConnected = false
    /// The room that the client is in.
    var room: String?
    /// The room's name as the client gave it, including the token. It is sent back as is, because the client may
    /// compare it.
    var roomAsNamed = ""
    /// The client's media session, while it has one, and the track it is for.
    var media: (session: MemberSession, address: TrackAddress)?

    init(member: MemberID, session: EngineSession, address: String, joinBy: Int) {
        self.member = member
        self.session = session
        self.address = address
        self.joinBy = joinBy
    }
}

/// socket.io over Engine.IO: one namespace, events, and empty acknowledgements.
extension SocketIOServer {
    /// The longest name of a room with its token, in bytes.
    private static let longestName = 512

    func connect(_ client: PairClient) {
        client.isConnected = true
        client.session.send(SocketPacket.connected(client.session.version, as: client.member))
    }

    func received(_ text: String, from client: PairClient) {
        guard let packet = SocketPacket(parsing: text) else { return client.session.close() }
        guard packet.namespace == "/" else {
            if packet.kind == .connect {
                client.session.send(SocketPacket.noSuchNamespace(packet.namespace, client.session.version))
            }
            return
        }
        guard client.isConnected || packet.kind == .connect else { return client.session.close() }
        switch packet.kind {
        case .connect: if !client.isConnected { connect(client) }
        case .disconnect: client.session.close()
        case .event:
            if let id = packet.acknowledgement { client.session.send(SocketPacket.acknowledging(id)) }
            if let event = SocketIOEvent(json: packet.json) { take(event, from: client) }
        case .ack, .error, .binaryEvent, .binaryAck: break
        }
    }

    /// Handles the end of a client's connection.
    func ended(_ member: MemberID) {
        guard let client = clients[member] else { return }
        if let room = client.room { handle(.lost(member), in: room) }
        clients[member] = nil
    }

    /// Whether a client is in the one-to-one room called `name`.
    func hasClient(in name: String) -> Bool {
        rooms[name].map { !$0.isEmpty } ?? false
    }

    /// Whether a client in a one-to-one room watches that track.
    func isWatched(_ address: TrackAddress) -> Bool {
        guard let client = rooms[address.room]?.client else { return false }
        return clients[client]?.media?.address == address
    }

    /// Handles the end of a client's session by the media layer.
    func sessionEnded(_ member: MemberID) {
        guard let client = clients[member], let room = client.room else { return }
        client.media = nil
        site.decidePointers(of: room)
        handle(.sessionEnded(member), in: room)
    }

    /// Handles a track added to the room or removed: the host is in the room while it has something to show.
    func tracksChanged(in name: String) {
        guard let room = rooms[name] else { return }
        guard site.media[name] != nil else { return handle(.hostGone, in: name) }
        if let member = room.client, let media = clients[member]?.media, site.tracks[media.address] == nil {
            closeSession(of: member)
            handle(.sessionEnded(member), in: name)
        }
        handle(.hostBack, in: name)
    }

    private func take(_ event: SocketIOEvent, from client: PairClient) {
        if event.name == "join" { return join(event.room, client) }
        guard let event = event.pairEvent(from: client.member) else { return }
        if let room = client.room { return handle(event, in: room) }
        if case .leave = event { dismiss(client) }
    }

    private func join(_ name: String, _ client: PairClient) {
        if let room = client.room { handle(.lost(client.member), in: room) }
        client.roomAsNamed = name
        guard let definition = admit(name, from: client.address) else {
            site.log("a client from \(client.address) was not admitted", of: client.address)
            // Clients know no message for this. They all take this one as the end of the call, and it reveals nothing.
            return dismiss(client)
        }
        client.joinBy = nil
        if rooms[definition.name] == nil {
            rooms[definition.name] = PairRoom(host: definition.host, isHostThere: site.media[definition.name] != nil)
        }
        client.room = definition.name
        handle(.join(client.member), in: definition.name)
    }

    /// Returns the room that `name` opens. A page may have taken the name from its URL without decoding it.
    private func admit(_ name: String, from address: String) -> RoomDefinition? {
        let text = name.contains(",") ? name : PercentCoding.decode(name) ?? name
        guard text.utf8.count <= Self.longestName else { return nil }
        return site.room(openedBy: RoomKey(text), from: address)
    }

    /// Tells a client that it has left, and disconnects it as socket.io does: otherwise it would reconnect at once.
    private func dismiss(_ client: PairClient) {
        client.room = nil
        send(.notice(.left, about: client.member), to: client)
        client.session.send(SocketPacket(.disconnect))
        client.session.close()
    }
}

// MARK: - Actions

extension SocketIOServer {
    func handle(_ event: PairEvent, in name: String) {
        guard var room = rooms[name] else { return }
        let actions = room.handle(event)
        rooms[name] = room.isEmpty ? nil : room
        for action in actions { carryOut(action, in: name) }
    }

    private func carryOut(_ action: PairAction, in room: String) {
        switch action {
        case .send(let message, let member):
            guard let client = clients[member] else { return }
            // A client that finds the room full may try again.
            if case .notice(.full, _) = message {
                client.room = nil
                client.session.allowAnotherTry()
                client.joinBy = g_get_monotonic_time() + site.limits.joinTime.microseconds
            }
            send(message, to: client)
        case .joined(let member):
            guard let client = clients[member] else { return }
            client.session.admit()
            site.log("room \(room): a socket.io client came from \(client.address)", of: client.address)
            site.countAudience(of: room)
            let who = Visitor(id: member.text, name: nil, address: client.address, kind: .caller)
            site.came(who, to: room, track: client.media?.address.track) { [unowned self] in sendAway(member) }
        case .left(let member):
            clients[member]?.room = nil
            site.log("room \(room): a socket.io client left", of: clients[member]?.address ?? "")
            site.countAudience(of: room)
            site.left(member.text)
        case .openSession(let member): offer(to: member, in: room)
        case .answerOffer(let member, let sdp): answer(sdp, of: member, in: room)
        case .acceptAnswer(let member, let sdp): accept(sdp, from: member, in: room)
        case .addCandidate(let member, let candidate):
            guard let session = clients[member]?.media?.session else { return }
            session.side.remoteCandidates(session.id, fragment: candidate.candidate)
        case .closeSession(let member): closeSession(of: member)
        case .disconnect(let member):
            guard let client = clients[member] else { return }
            client.session.send(SocketPacket(.disconnect))
            client.session.close()
        }
    }

    private func send(_ message: PairMessage, to client: PairClient) {
        for packet in message.packets(room: client.roomAsNamed, alsoOtherJoined: alsoOtherJoined) {
            client.session.send(packet)
        }
    }

    private func sendAway(_ member: MemberID) {
        guard let client = clients[member], let room = client.room else { return }
        handle(.leave(member), in: room)
    }

    private func offer(to member: MemberID, in room: String) {
        guard let client = clients[member] else { return }
        do throws(MediaRefusal) {
            let address = try address(in: room)
            let (offered, key, side) = try site.offerSession(of: address, for: .caller(member))
            client.media = (MemberSession(id: offered.id, key: key, side: side), address)
            handle(.offered(member, sdp: offered.offer), in: room)
        } catch {
            site.log("room \(room): no offer can be made to \(client.address): \(error)", of: client.address)
            var isFull = false
            if case .full = error { isFull = true }
            handle(.notOffered(member, isFull: isFull), in: room)
        }
    }

    private func answer(_ offer: String, of member: MemberID, in room: String) {
        guard let client = clients[member] else { return }
        do throws(MediaRefusal) {
            let address = try address(in: room)
            let (opened, key, side) = try site.openSession(
                in: room, track: address.track, offer: offer, for: .caller(member))
            client.media = (MemberSession(id: opened.id, key: key, side: side), address)
            site.decidePointers(of: room)
            handle(.answered(member, sdp: opened.answer), in: room)
        } catch {
            site.log("room \(room): an offer from \(client.address) was refused: \(error)", of: client.address)
            handle(.refused(member), in: room)
        }
    }

    private func accept(_ answer: String, from member: MemberID, in room: String) {
        guard let client = clients[member], let session = client.media?.session else { return }
        do throws(MediaRefusal) {
            try session.side.accept(answer: answer, for: session.id)
        } catch {
            site.log("room \(room): an answer from \(client.address) was refused: \(error)", of: client.address)
            // Also after a second answer, which leaves the session as it is.
            closeSession(of: member)
            site.decidePointers(of: room)
            handle(.refused(member), in: room)
        }
    }

    /// The track that the host shows in a one-to-one room: the first.
    private func address(in room: String) throws(MediaRefusal) -> TrackAddress {
        guard let address = site.address(of: nil, in: room) else {
            throw .unsupported("nothing is shared in this room now")
        }
        return address
    }

    private func closeSession(of member: MemberID) {
        guard let client = clients[member], let session = client.media?.session else { return }
        client.media = nil
        site.sessionOwners[session.key] = nil
        session.side.close(session.id)
    }
}
