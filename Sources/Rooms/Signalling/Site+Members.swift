import CGLib
import MediaSessions
import Rooms

/// A client with an open WebSocket.
final class RoomMember {
    let socket: WebSocketConnection
    let address: String
    /// The deadline for joining (g_get_monotonic_time); nil once the client has joined.
    var joinBy: Int?
    /// The room that the member is in.
    var room: String?
    /// Whether its last `__join` contained a password.
    var gavePassword = false
    /// Its media sessions, at most one for each track.
    var sessions: [TrackName: MemberSession] = [:]
    /// For each track of its room, what the member has been told of the pointer.
    var pointers: [TrackName: PointerToldSoFar] = [:]

    init(socket: WebSocketConnection, address: String, joinBy: Int) {
        self.socket = socket
        self.address = address
        self.joinBy = joinBy
    }
}

/// A member's media session of one track.
struct MemberSession {
    let id: MediaSessionID
    /// The key that identifies this session when the media layer reports its end.
    let key: UInt64
    /// The media server that serves it.
    let side: any SessionServer
}

/// The rooms over WebSockets: translates JSON for `RoomDirectory`, and performs the actions that it returns.
extension Site {
    /// Answers a request for a WebSocket. Access to a room is decided later, when the client asks to join.
    func upgrade(_ exchange: HTTPExchange) {
        switch origin(of: exchange) {
        case .ours, .allowed: break
        case .foreign, .malformed: return exchange.answer(Self.refusal(403))
        }
        acceptWebSocket(exchange) { [unowned self] exchange, stream in opened(stream, exchange) }
    }

    /// Upgrades a request whose origin has been checked to a WebSocket. `open` takes over the stream once the response
    /// has been written. It is passed a new exchange: a closure that captured the old one would create a reference
    /// cycle, because the message keeps the closure alive.
    func acceptWebSocket(
        _ exchange: HTTPExchange,
        _ open: @escaping (_ exchange: HTTPExchange, _ stream: UnsafeMutablePointer<GIOStream>) -> Void
    ) {
        // Sets the status: 101, or an error in the handshake.
        guard soup_websocket_server_process_handshake(exchange.message, nil, nil, nil, nil) != 0 else { return }
        let upgrade = Upgrade { [unowned self] message in
            guard let exchange = front.exchange(of: message), let stream = front.steal(exchange) else { return }
            open(exchange, stream)
        }
        typealias Signal = @convention(c) (OpaquePointer?, gpointer?) -> Void
        let wrote: Signal = { message, data in
            guard let message, let data else { return }
            Unmanaged<Upgrade>.fromOpaque(data).takeUnretainedValue().run(message)
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(exchange.message), "wrote-informational", unsafeBitCast(wrote, to: GCallback.self),
            Unmanaged.passRetained(upgrade).toOpaque(),
            { data, _ in
                if let data { Unmanaged<Upgrade>.fromOpaque(data).release() }
            }, GConnectFlags(rawValue: 0))
    }

    func memberSessionEnded(_ member: MemberID, _ track: TrackName, reason: String) {
        members[member]?.sessions[track] = nil
        handle(.sessionEnded(member, track: track, reason: reason))
        if let room = members[member]?.room { sessionsChanged(in: room) }
    }

    /// Sends pings, and closes connections whose clients haven't joined in time.
    func tickMembers() {
        let now = g_get_monotonic_time()
        for member in Array(members.values) {
            if let joinBy = member.joinBy, now > joinBy {
                member.joinBy = nil
                member.socket.close(.noJoin)
            }
            member.socket.tick()
        }
    }

    /// Publishes the audience of `room`. Called whenever it changes.
    func countAudience(of room: String) {
        let players = playerCount(in: room)
        audience.set(room, members: directory.memberCount(in: room), players: players)
        decidePointers(of: room)
        rosterChanged(in: room)
    }

    /// The closure to call when the handshake's response has been written.
    private final class Upgrade {
        let run: (_ message: OpaquePointer) -> Void
        init(_ run: @escaping (_ message: OpaquePointer) -> Void) { self.run = run }
    }

    private func opened(_ stream: UnsafeMutablePointer<GIOStream>, _ exchange: HTTPExchange) {
        let id = MemberID(Self.newIdentifier())
        let socket = WebSocketConnection(stream, of: exchange.connection, limits: limits, on: context)
        let joinBy = g_get_monotonic_time() + limits.joinTime.microseconds
        members[id] = RoomMember(socket: socket, address: exchange.clientAddress, joinBy: joinBy)
        socket.onMessage = { [unowned self] text in received(text, from: id) }
        socket.onEnd = { [unowned self] in ended(id) }
        socket.start()
    }

    private func received(_ text: String, from id: MemberID) {
        guard let member = members[id] else { return }
        let arrival = clock()
        let message = SkyRTCMessage(text)
        if let stamp = message?.clockStamp, member.room != nil {
            return member.socket.send(SkyRTCReply(clockStamp: stamp, received: arrival, sent: clock()).text)
        }
        var event = message?.event(from: id) ?? .unknown(id)
        if case .join(_, var key, let role, let name) = event {
            member.joinBy = nil
            // After too many wrong passwords, passwords aren't compared: a client with the right token is asked for one
            // again.
            if key.password != nil, !passwords.mayTry(member.address, now: attemptClock()) { key.password = nil }
            member.gavePassword = !(key.password ?? "").isEmpty
            event = .join(id, key, role, name: name)
        }
        handle(event)
    }

    private func ended(_ id: MemberID) {
        handle(.leave(id))
        guard let member = members.removeValue(forKey: id), let room = member.room else { return }
        log("room \(room): a viewer left", of: member.address)
    }
}

// MARK: - Actions

extension Site {
    /// Passes an event to the directory and performs the actions that it returns.
    func handle(_ event: RoomEvent) {
        let before = event.member.flatMap { directory.place(of: $0) }
        let actions = directory.handle(event)
        if let id = event.member {
            let after = directory.place(of: id)
            // Done before anybody is told, so that a client that asks in response gets the new numbers.
            if before != after { moved(id, from: before, to: after) }
        }
        for action in actions { carryOut(action) }
    }

    private func moved(_ id: MemberID, from before: RoomDirectory.Place?, to after: RoomDirectory.Place?) {
        for room in Set([before?.room, after?.room].compactMap { $0 }) { countAudience(of: room) }
        guard before?.room != after?.room || before?.role != after?.role || before?.name != after?.name else { return }
        left(id.text)
        guard let after, let member = members[id] else { return }
        let who = Visitor(
            id: id.text, name: after.name, address: member.address, kind: after.role == .viewer ? .viewer : .client)
        came(who, to: after.room) { [unowned self] in
            guard let socket = members[id]?.socket else { return }
            socket.send(SkyRTCReply(refusal: "the sharer has sent you away").text)
            socket.close(.sentAway)
            handle(.leave(id))
        }
    }

    func carryOut(_ action: RoomAction) {
        switch action {
        case .send(let message, let id): send(message, to: id)
        case .joined(let id, let room, let role): joined(id, room, role)
        case .openSession(let id, let room, let track, let offer):
            open(for: id, TrackAddress(room: room, track: track), offer)
        case .closeSession(let id, let track): closeSession(of: id, track)
        case .addCandidate(let id, let candidate, let track):
            guard let session = members[id]?.sessions[track] else { return }
            session.side.remoteCandidates(session.id, fragment: candidate.candidate)
        case .refuse(let id, let refusal): refuse(id, refusal)
        case .tracksChanged(let room): tellTracks(in: room)
        }
    }

    private func send(_ message: RoomMessage, to id: MemberID) {
        guard let member = members[id] else { return }
        if case .peers = message, let room = directory.place(of: id)?.room {
            return member.socket.send(SkyRTCReply(message, tracks: summaries(of: room)).text)
        }
        let text = SkyRTCReply(message).text
        let isRelayed =
            switch message {
            case .offer, .candidate: true
            case .answer(_, let sender, _): members[sender] != nil
            default: false
            }
        // A client that reads slowly misses messages from other members, rather than being disconnected because of
        // them.
        if isRelayed, member.socket.unsentCount + text.utf8.count > Self.mostRelayed { return }
        member.socket.send(text)
    }

    /// How many bytes may be queued for a member before messages from other members are dropped.
    private static let mostRelayed = 128 * 1024

    private func joined(_ id: MemberID, _ room: String, _ role: MemberRole) {
        guard let member = members[id] else { return }
        member.room = room
        member.socket.admit()
        member.pointers = [:]
        log(
            "room \(room): a \(role == .viewer ? "viewer" : "SkyRTC client") came from \(member.address)",
            of: member.address)
        guard role == .viewer else { return }
        tellStates(to: member, in: room)
        if !directory.namesTracks(in: room), let only = address(of: nil, in: room) {
            tellPointer(of: only, to: member)
        }
        tellRoster(to: member, in: room)
    }

    private func open(for id: MemberID, _ address: TrackAddress, _ offer: String) {
        guard let member = members[id] else { return }
        do throws(MediaRefusal) {
            let owner = SessionOwner.member(id, address.track)
            let (opened, key, side) = try openSession(in: address.room, track: address.track, offer: offer, for: owner)
            let session = MemberSession(id: opened.id, key: key, side: side)
            member.sessions[address.track] = session
            watchPointer(of: id, address, session)
            handle(.sessionAnswered(id, track: address.track, sdp: opened.answer))
            if directory.namesTracks(in: address.room), directory.viewers(in: address.room).contains(id) {
                tellPointer(of: address, to: member)
            }
            sessionsChanged(in: address.room)
        } catch {
            log("room \(address.room): an offer from \(member.address) was refused: \(error)", of: member.address)
            handle(.sessionRefused(id, track: address.track, reason: error.description))
            // A place may become free soon. The client reconnects after a while and then asks again by itself.
            if case .full = error { member.socket.close(.full) }
        }
    }

    private func closeSession(of id: MemberID, _ track: TrackName) {
        guard let session = members[id]?.sessions.removeValue(forKey: track) else { return }
        sessionOwners[session.key] = nil
        session.side.close(session.id)
        if let room = members[id]?.room { sessionsChanged(in: room) }
    }

    /// Plain clients that watch further tracks count towards the audience of those tracks' pointers.
    private func sessionsChanged(in room: String) {
        if directory.namesTracks(in: room) { decidePointers(of: room) }
    }

    private func refuse(_ id: MemberID, _ refusal: RoomRefusal) {
        guard let member = members[id] else { return }
        member.room = nil
        let now = attemptClock()
        switch refusal {
        case .notAdmitted:
            if attempts.note(member.address, now: now) {
                log("a client from \(member.address) was not admitted", of: member.address)
            }
            turnAway(member, refusal, .notAdmitted)
        case .needsPassword:
            if member.gavePassword { passwords.note(member.address, now: now) }
            turnAway(member, refusal, .needsPassword)
        case .full: turnAway(member, refusal, .full)
        case .expired:
            left(id.text)
            turnAway(member, refusal, .expired)
        }
    }

    private func turnAway(_ member: RoomMember, _ refusal: RoomRefusal, _ code: WebSocketConnection.CloseCode) {
        member.socket.send(SkyRTCReply(refusal).text)
        member.socket.close(code)
    }
}
