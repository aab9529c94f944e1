import CGLib
import Rooms

/// A client that has opened a WebSocket.
final class RoomMember {
    let socket: WebSocketConnection
    let address: String
    /// When it must have joined (g_get_monotonic_time); nil once it has.
    var joinBy: Int?
    /// The room it is in.
    var room: String?
    /// Its media session, while it has one.
    var session: (id: MediaSessionID, key: UInt64)?
    /// What it knows of its room's pointer.
    var pointer = PointerToldSoFar()

    init(socket: WebSocketConnection, address: String, joinBy: Int) {
        self.socket = socket
        self.address = address
        self.joinBy = joinBy
    }
}

/// The rooms over WebSockets: JSON in and out of `RoomDirectory`, and what it says is to be done.
extension Site {
    /// Answers a request for a WebSocket. Who may join a room is decided by the message that asks for it.
    func upgrade(_ exchange: HTTPExchange) {
        switch origin(of: exchange) {
        case .ours, .allowed: break
        case .foreign, .malformed: return exchange.answer(Self.refusal(403))
        }
        // Sets the status: 101, or what was wrong with the handshake.
        guard soup_websocket_server_process_handshake(exchange.message, nil, nil, nil, nil) != 0 else { return }
        let upgrade = Upgrade { [unowned self] in
            if let stream = front.steal(exchange) { opened(stream, from: exchange.clientAddress) }
        }
        typealias Signal = @convention(c) (OpaquePointer?, gpointer?) -> Void
        let wrote: Signal = { _, data in
            if let data { Unmanaged<Upgrade>.fromOpaque(data).takeUnretainedValue().run() }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(exchange.message), "wrote-informational", unsafeBitCast(wrote, to: GCallback.self),
            Unmanaged.passRetained(upgrade).toOpaque(),
            { data, _ in
                if let data { Unmanaged<Upgrade>.fromOpaque(data).release() }
            }, GConnectFlags(rawValue: 0))
    }

    /// Tells the viewers of `room` what its source is doing.
    func announce(_ state: SourceState, _ message: String, in room: String) {
        guard let present = sources[room], present.state != state || present.message != message else { return }
        let now = g_get_monotonic_time()
        let source = (state: state, message: message, since: state == present.state ? present.since : now)
        sources[room] = source
        log("room \(room): the source is \(state.rawValue)")
        let text = SkyRTCReply(state, message, microseconds: now - source.since).text
        for viewer in directory.viewers(in: room) { members[viewer]?.socket.send(text) }
    }

    func memberSessionEnded(_ member: MemberID, reason: String) {
        members[member]?.session = nil
        handle(.sessionEnded(member, reason: reason))
    }

    /// Pings, and closes who hasn't joined in time.
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

    /// Lets other threads know how many watch `room`.
    func countAudience(of room: String) {
        let players = playerSessions.values.count { $0.room == room }
        audience.set(room, members: directory.memberCount(in: room), players: players)
        decidePointer(of: room)
    }

    /// What is done when the handshake's answer has been written.
    private final class Upgrade {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private func opened(_ stream: UnsafeMutablePointer<GIOStream>, from address: String) {
        let id = MemberID(Self.newIdentifier())
        let socket = WebSocketConnection(stream, limits: limits, on: context)
        let joinBy = g_get_monotonic_time() + limits.joinTime.microseconds
        members[id] = RoomMember(socket: socket, address: address, joinBy: joinBy)
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
        let event = message?.event(from: id) ?? .unknown(id)
        if case .join = event {
            let now = g_get_monotonic_time() / 1_000_000
            guard attempts.mayTry(member.address, now: now) else {
                closeSession(of: id)
                return refuse(id, .notAdmitted)
            }
            member.joinBy = nil
        }
        handle(event)
    }

    private func ended(_ id: MemberID) {
        handle(.leave(id))
        guard let member = members.removeValue(forKey: id), let room = member.room else { return }
        log("room \(room): a viewer left")
    }
}

// MARK: - Actions

extension Site {
    private func handle(_ event: RoomEvent) {
        let actions = directory.handle(event)
        switch event {
        case .join, .leave:
            // Before anybody hears of it, so that who asks on hearing of it is told the new numbers.
            for room in media.keys { countAudience(of: room) }
        default: break
        }
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: RoomAction) {
        switch action {
        case .send(let message, let id): members[id]?.socket.send(SkyRTCReply(message).text)
        case .joined(let id, let room, let role): joined(id, room, role)
        case .openSession(let id, let room, let offer): open(for: id, in: room, offer)
        case .closeSession(let id): closeSession(of: id)
        case .addCandidate(let id, let candidate):
            guard let member = members[id], let session = member.session, let room = member.room else { return }
            media[room]?.remoteCandidates(session.id, fragment: candidate.candidate)
        case .refuse(let id, let refusal): refuse(id, refusal)
        }
    }

    private func joined(_ id: MemberID, _ room: String, _ role: MemberRole) {
        guard let member = members[id] else { return }
        member.room = room
        log("room \(room): a \(role == .viewer ? "viewer" : "SkyRTC client") came from \(member.address)")
        guard role == .viewer, let source = sources[room] else { return }
        let age = g_get_monotonic_time() - source.since
        member.socket.send(SkyRTCReply(source.state, source.message, microseconds: age).text)
        tellPointer(to: member, in: room)
    }

    private func open(for id: MemberID, in room: String, _ offer: String) {
        guard let member = members[id] else { return }
        do throws(MediaRefusal) {
            let (session, key) = try openSession(in: room, offer: offer, for: .member(id))
            member.session = (session.id, key)
            watchPointer(of: id, in: room, session: session.id, key: key)
            handle(.sessionAnswered(id, sdp: session.answer))
        } catch {
            log("room \(room): an offer from \(member.address) was refused: \(error)")
            handle(.sessionRefused(id, reason: error.description))
            // There may be room again soon: a client that comes back in a while need not be told anew what it asked for.
            if case .full = error { member.socket.close(.full) }
        }
    }

    private func closeSession(of id: MemberID) {
        guard let member = members[id], let session = member.session, let room = member.room else { return }
        member.session = nil
        sessionOwners[session.key] = nil
        media[room]?.close(session.id)
    }

    private func refuse(_ id: MemberID, _ refusal: RoomRefusal) {
        guard let member = members[id] else { return }
        member.room = nil
        if refusal == .notAdmitted {
            attempts.note(member.address, now: g_get_monotonic_time() / 1_000_000)
            log("a client from \(member.address) was not admitted")
        }
        member.socket.send(SkyRTCReply(refusal).text)
        member.socket.close(refusal == .full ? .full : .notAdmitted)
    }
}
