import ByteCoding
import Clocks
import MediaSessions
import MediaTypes
import Rooms
import SocketIORooms
import Threading

/// The clients of socket.io, which speaks events and empty acknowledgements in one namespace over Engine.IO. A client's
/// events are passed to its `PairRoom`, and the actions that the room returns are performed here.
final class SocketIOClients {
    /// The longest name of a room with its token, in bytes.
    private static let maxName = 512

    let configuration: SignallingConfiguration
    let rooms: HostRooms
    let admission: Admission
    private let doors: Doors
    private let pointers: Pointers
    private let presence: RoomPresence
    private let sessionEnds: SessionEnds
    let log: LogRateLimiter
    private(set) var clients: [MemberID: PairClient] = [:]
    /// The rooms that have a client, by name.
    private var pairs: [String: PairRoom] = [:]
    /// The rooms of two clients, by name. Each has a client, so there are no more than sessions.
    var calls: [String: CallRoom] = [:]

    init(
        _ configuration: SignallingConfiguration, rooms: HostRooms, admission: Admission, doors: Doors,
        pointers: Pointers, presence: RoomPresence, sessionEnds: SessionEnds, log: LogRateLimiter
    ) {
        self.configuration = configuration
        (self.rooms, self.admission, self.doors, self.log) = (rooms, admission, doors, log)
        (self.pointers, self.presence, self.sessionEnds) = (pointers, presence, sessionEnds)
    }

    /// Takes over a new session and greets its client. `onEnd` is called when the session has ended.
    func open(_ session: EngineSession, onEnd: @escaping () -> Void) {
        let member = MemberID(newIdentifier())
        let client = PairClient(member: member, session: session, joinBy: .now() + configuration.limits.joinTime)
        clients[member] = client
        session.onMessage = { [unowned self, unowned client] text in received(text, from: client) }
        session.onEnd = { [unowned self] in
            onEnd()
            ended(member)
        }
        session.greet()
        // Clients of version 3 are in the only namespace without asking.
        if session.version == .three { connect(client) }
    }

    func tick() {
        let now = MonotonicTime.now()
        for client in Array(clients.values) {
            if let joinBy = client.joinBy, now > joinBy {
                client.joinBy = nil
                client.session.endIdle()
            }
        }
        endExpiredCalls()
    }

    /// Notifies all clients that the host is ending.
    func stop() {
        for name in Array(pairs.keys) { handle(.hostGone, in: name) }
    }

    private func connect(_ client: PairClient) {
        client.isConnected = true
        client.session.send(SocketPacket.connected(client.session.version, as: client.member))
    }

    private func received(_ text: String, from client: PairClient) {
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
            if let event = SocketIOEvent(json: packet.json) { take(event, packet.json, from: client) }
        case .ack, .error, .binaryEvent, .binaryAck: break
        }
    }

    /// Handles the end of a client's connection.
    private func ended(_ member: MemberID) {
        guard let client = clients[member] else { return }
        leaveSilently(client)
        clients[member] = nil
    }

    /// Handles the end of a client's session by the media layer.
    private func sessionEnded(_ member: MemberID) {
        guard let client = clients[member], let room = client.room else { return }
        watch(nil, by: client)
        pointers.decide(in: room)
        handle(.sessionEnded(member), in: room)
    }

    /// Handles a track added to the room or removed: the host is in the room while it has something to show.
    func tracksChanged(in name: String) {
        guard let room = pairs[name] else { return }
        guard rooms.address(of: nil, in: name) != nil else { return handle(.hostGone, in: name) }
        if let member = room.client, let media = clients[member]?.media, rooms[media.address] == nil {
            closeSession(of: member)
            handle(.sessionEnded(member), in: name)
        }
        handle(.hostBack, in: name)
    }

    private func take(_ event: SocketIOEvent, _ json: String, from client: PairClient) {
        if event.name == "join" { return join(event.room, client) }
        if let call = client.call { return take(event, json, from: client, in: call) }
        guard let event = event.pairEvent(from: client.member) else { return }
        if let room = client.room { return handle(event, in: room) }
        if case .leave = event { dismiss(client) }
    }

    private func join(_ name: String, _ client: PairClient) {
        let former = client.room
        leaveSilently(client)
        client.roomAsNamed = name
        let key = key(from: name)
        if let key, isCall(key) {
            if mayCall(key, from: client.address) { return enter(key.room, client) }
        } else if let key, let definition = admission.room(openedBy: key, from: client.address) {
            let isKnown = definition.name == former || rooms.directory.grant(to: key).grant == .presenting
            if isKnown || doors.closure(of: definition.name) == nil { return enter(definition, client) }
            // Clients know no message for this either, and can't wait. They may try again after this one.
            return send(.notice(.full, about: client.member), to: client)
        }
        log(of: client.address).info("a client from \(client.address) was not admitted")
        // Clients know no message for this. They all treat this message as the end of the call, and it reveals nothing.
        dismiss(client)
    }

    private func enter(_ definition: RoomDefinition, _ client: PairClient) {
        client.joinBy = nil
        if pairs[definition.name] == nil {
            pairs[definition.name] = PairRoom(
                host: definition.host, isHostThere: rooms.address(of: nil, in: definition.name) != nil)
        }
        client.room = definition.name
        handle(.join(client.member), in: definition.name)
    }

    /// Returns the key that a client's name of a room stands for; nil if it is too long. A page may have taken the name
    /// from its URL without decoding it.
    private func key(from name: String) -> RoomKey? {
        let text = name.contains(",") ? name : PercentCoding.decode(name) ?? name
        return text.utf8.count <= Self.maxName ? RoomKey(text) : nil
    }

    /// Removes a client from its room as if its connection were gone.
    private func leaveSilently(_ client: PairClient) {
        if let room = client.room { handle(.lost(client.member), in: room) }
        if let call = client.call { change(call) { $0.lost(client.member) } }
    }

    /// Notifies a client that it has left, and disconnects it as socket.io does: otherwise it would reconnect at once.
    private func dismiss(_ client: PairClient) {
        client.room = nil
        send(.notice(.left, about: client.member), to: client)
        disconnect(client)
    }

    func disconnect(_ client: PairClient) {
        client.session.send(SocketPacket(.disconnect))
        client.session.close()
    }
}

// MARK: - Actions

extension SocketIOClients {
    private func handle(_ event: PairEvent, in name: String) {
        guard var room = pairs[name] else { return }
        let actions = room.handle(event)
        pairs[name] = room.isEmpty ? nil : room
        for action in actions { carryOut(action, in: name) }
    }

    private func carryOut(_ action: PairAction, in room: String) {
        switch action {
        case .send(let message, let member):
            if let client = clients[member] { send(message, to: client) }
        case .joined(let member):
            guard let client = clients[member] else { return }
            client.session.admit()
            log(of: client.address).info("room \(room): a socket.io client came from \(client.address)")
            let who = Participant(id: member.text, name: nil, address: client.address, kind: .caller)
            presence.came(who, to: room, track: client.media?.address.track) {
                [weak client] in
                client?.media.map { [$0.address.track: $0.session] } ?? [:]
            } remove: { [unowned self] in
                sendAway(member)
            }
        case .left(let member):
            clients[member]?.room = nil
            log(of: clients[member]?.address ?? "").info("room \(room): a socket.io client left")
            presence.left(member.text)
        case .openSession(let member): offer(to: member, in: room)
        case .answerOffer(let member, let sdp): answer(sdp, of: member, in: room)
        case .acceptAnswer(let member, let sdp): accept(sdp, from: member, in: room)
        case .addCandidate(let member, let candidate):
            guard let session = clients[member]?.media?.session else { return }
            session.side.remoteCandidates(session.id, fragment: candidate.candidate)
        case .closeSession(let member): closeSession(of: member)
        case .disconnect(let member):
            if let client = clients[member] { disconnect(client) }
        }
    }

    func send(_ message: PairMessage, to client: PairClient) {
        switch message {
        case .notice(.full, _):
            // The client may try again.
            (client.room, client.call) = (nil, nil)
            client.session.allowAnotherTry()
            client.joinBy = MonotonicTime.now() + configuration.limits.joinTime
        case .notice(.joined, _):
            // Clients make their connection on `joined`. They pass over an event that they don't know.
            let servers = configuration.iceServers.forClient()
            if !servers.isEmpty { send(.iceServers(json: servers.jsonLine), to: client) }
        default: break
        }
        let packets = message.packets(room: client.roomAsNamed, alsoOtherJoined: configuration.alsoOtherJoined)
        for packet in packets { client.session.send(packet) }
    }

    private func sendAway(_ member: MemberID) {
        guard let client = clients[member], let room = client.room else { return }
        handle(.leave(member), in: room)
    }

    private func offer(to member: MemberID, in room: String) {
        guard let client = clients[member] else { return }
        do throws(MediaSessionError) {
            let (address, media) = try rooms.media(of: nil, in: room)
            let (offered, key) = try sessionEnds.expect { [unowned self] _ in
                sessionEnded(member)
            } of: { (onEnd) throws(MediaSessionError) in
                try media.offer(onEnd: onEnd)
            }
            watch((ClientSession(id: offered.id, key: key, side: media.sessions), address), by: client)
            handle(.offered(member, sdp: offered.offer), in: room)
        } catch {
            log(of: client.address).info("room \(room): no offer can be made to \(client.address): \(error)")
            var isFull = false
            if case .full = error { isFull = true }
            handle(.notOffered(member, isFull: isFull), in: room)
        }
    }

    private func answer(_ offer: String, of member: MemberID, in room: String) {
        guard let client = clients[member] else { return }
        do throws(MediaSessionError) {
            let (address, media) = try rooms.media(of: nil, in: room)
            let (opened, session) = try sessionEnds.open(offer, from: client.address, at: media) { [unowned self] _ in
                sessionEnded(member)
            }
            watch((session, address), by: client)
            pointers.decide(in: room)
            handle(.answered(member, sdp: opened.answer), in: room)
        } catch {
            log(of: client.address).info(
                "room \(room): an offer from \(client.address) was refused: \(error)")
            handle(.refused(member), in: room)
        }
    }

    private func accept(_ answer: String, from member: MemberID, in room: String) {
        guard let client = clients[member], let session = client.media?.session else { return }
        do throws(MediaSessionError) {
            try session.side.accept(answer: answer, for: session.id)
        } catch {
            log(of: client.address).info("room \(room): an answer from \(client.address) was refused: \(error)")
            // Also after a second answer, which leaves the session as it is.
            closeSession(of: member)
            pointers.decide(in: room)
            handle(.refused(member), in: room)
        }
    }

    private func watch(_ media: (session: ClientSession, address: TrackAddress)?, by client: PairClient) {
        client.media = media
        pointers.setPlainReader(client.member.text, of: media?.address)
    }

    private func closeSession(of member: MemberID) {
        guard let client = clients[member], let session = client.media?.session else { return }
        watch(nil, by: client)
        sessionEnds.close(session)
    }
}
