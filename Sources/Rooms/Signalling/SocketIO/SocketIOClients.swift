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
    let pointers: Pointers
    let presence: RoomPresence
    let sessionEnds: SessionEnds
    let log: LogRateLimiter
    private(set) var clients: [MemberID: PairClient] = [:]
    /// The rooms that have a client, by name.
    var pairs: [String: PairRoom] = [:]
    /// The rooms of two clients, by name. Each has a client, so there are no more than sessions.
    var calls: [String: CallRoom] = [:]

    init(
        _ configuration: SignallingConfiguration, rooms: HostRooms, admission: Admission, doors: Doors,
        pointers: Pointers, presence: RoomPresence, sessionEnds: SessionEnds, log: LogRateLimiter
    ) {
        self.configuration = configuration
        self.rooms = rooms
        self.admission = admission
        self.doors = doors
        self.log = log
        self.pointers = pointers
        self.presence = presence
        self.sessionEnds = sessionEnds
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
