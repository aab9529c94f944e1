import Clocks
import MediaSessions
import MediaTypes
import Rooms
import SocketIORooms
import Threading

/// The actions that a room returns, and what follows from them.
extension SocketIOClients {
    func handle(_ event: PairEvent, in name: String) {
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

    /// Handles the end of a client's session by the media layer.
    private func sessionEnded(_ member: MemberID) {
        guard let client = clients[member], let room = client.room else { return }
        watch(nil, by: client)
        pointers.decide(in: room)
        handle(.sessionEnded(member), in: room)
    }

    private func watch(_ media: (session: ClientSession, address: TrackAddress)?, by client: PairClient) {
        client.media = media
        pointers.setPlainReader(client.member.text, of: media?.address)
    }

    func closeSession(of member: MemberID) {
        guard let client = clients[member], let session = client.media?.session else { return }
        watch(nil, by: client)
        sessionEnds.close(session)
    }
}
