import Rooms
import SocketIORooms
import Threading

/// Calls: rooms for two clients, separate from the host's rooms (`--pair-rooms`). Each client's messages are relayed to
/// the other client.
extension SocketIOClients {
    /// How many bytes may wait for a client before the other client's messages are dropped.
    private static let maxRelayed = 128 * 1024

    /// Whether a key is for a room of clients, not for one of the host's.
    func isCall(_ key: RoomKey) -> Bool {
        configuration.pairRooms && !key.room.isEmpty && !rooms.directory.roomNames.contains(key.room)
    }

    /// Whether a client may enter a room of clients: with the token and password of the host's first room.
    func mayCall(_ key: RoomKey, from address: String) -> Bool {
        let first = RoomKey(room: "", token: key.token, password: key.password)
        return admission.room(openedBy: first, from: address) != nil
    }

    /// Puts an admitted client into the room `name`.
    func enter(_ name: String, _ client: PairClient) {
        client.joinBy = nil
        client.call = name
        change(name) { $0.join(client.member) }
    }

    /// Handles an event of a client that is in the room `name`; `json` is the whole event.
    func take(_ event: SocketIOEvent, _ json: String, from client: PairClient, in name: String) {
        switch event.name {
        case "leave": change(name) { $0.leave(client.member) }
        case "message":
            guard let data = SocketIOEvent.relayed(json) else { return }
            change(name) { $0.message(data, from: client.member) }
        default: break
        }
    }

    /// Removes the clients when the token that admitted them has expired.
    func endExpiredCalls() {
        guard !calls.isEmpty, let first = rooms.directory.roomNames.first, rooms.directory.hasExpired(first) else {
            return
        }
        for client in clients.values {
            if let call = client.call { change(call) { $0.leave(client.member) } }
        }
    }

    /// Changes a room, and performs the resulting actions.
    func change(_ name: String, _ change: (inout CallRoom) -> [PairAction]) {
        var room = calls[name] ?? CallRoom()
        let actions = change(&room)
        calls[name] = room.isEmpty ? nil : room
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: PairAction) {
        switch action {
        case .send(let message, let member):
            guard let client = clients[member] else { return }
            // A client that reads slowly misses the other client's messages, rather than being disconnected.
            if case .relayed(let json) = message,
                client.session.unreadCount + json.utf8.count > Self.maxRelayed
            {
                return
            }
            send(message, to: client)
        case .joined(let member):
            guard let client = clients[member] else { return }
            client.session.admit()
            log(of: client.address).info("a socket.io client came to a call from \(client.address)")
        case .left(let member):
            guard let client = clients[member] else { return }
            client.call = nil
            log(of: client.address).info("a socket.io client left a call")
        case .disconnect(let member):
            if let client = clients[member] { disconnect(client) }
        case .openSession, .answerOffer, .acceptAnswer, .addCandidate, .closeSession: break
        }
    }
}
