import Clocks
import MediaSessions
import MediaTypes
import Rooms
import Threading
import Viewer

/// The rooms over WebSockets: translates SkyRTC's JSON for `RoomDirectory`, performs the actions that it returns, and
/// announces tracks to viewers.
final class SkyRTCRooms {
    let configuration: SignallingConfiguration
    let rooms: HostRooms
    private let admission: Admission
    let pointers: Pointers
    let presence: RoomPresence
    let sessionEnds: SessionEnds
    let frames: FrameStreams
    let presenters: Presenters
    let pointing: Pointing
    let chat: Chat
    let doors: Doors
    let log: LogRateLimiter
    private let startTime = MonotonicTime.now()
    private var expiredRooms: Set<String> = []

    init(
        _ configuration: SignallingConfiguration, rooms: HostRooms, admission: Admission, pointers: Pointers,
        presence: RoomPresence, sessionEnds: SessionEnds, frames: FrameStreams, presenters: Presenters,
        pointing: Pointing, chat: Chat, doors: Doors, log: LogRateLimiter
    ) {
        self.configuration = configuration
        self.rooms = rooms
        self.admission = admission
        self.log = log
        self.pointers = pointers
        self.presence = presence
        self.sessionEnds = sessionEnds
        self.frames = frames
        self.presenters = presenters
        self.doors = doors
        self.pointing = pointing
        self.chat = chat
        doors.onEntry = { [unowned self] request, member in
            guard presence.mayEnter(from: member.address) else { return refuse(member.id, .full) }
            handle(request)
        }
        doors.onRefusal = { [unowned self] id, refusal in refuse(id, refusal) }
        doors.onReplacement = { [unowned self] member in
            left(member)
            member.socket.abort()
        }
    }

    /// Takes over a new WebSocket. Access to a room is decided later, when the client asks to join.
    func open(_ socket: WebSocketConnection, from address: String) {
        let id = MemberID(newIdentifier())
        let joinBy = MonotonicTime.now() + configuration.limits.joinTime
        rooms[id] = RoomMember(id: id, socket: socket, address: address, joinBy: joinBy)
        listen(to: socket, of: id)
        socket.start()
    }

    /// Closes connections whose clients haven't joined in time, and removes all participants from expired rooms.
    func tick() {
        for action in rooms.advance(to: configuration.lifetimeClock()) { carryOut(action) }
        for room in rooms.directory.roomNames
        where rooms.directory.hasExpired(room) && expiredRooms.insert(room).inserted {
            log.own.info("room \(room): its invite links have expired")
            configuration.onExpiry(room)
            // Members have been notified already. These are players, publishers and the like.
            presence.removeAll(from: room)
            presence.changed(in: room)
            doors.expire(room)
            chat.expire(room)
        }
        let now = MonotonicTime.now()
        for member in Array(rooms.members.values) {
            if let leaveBy = member.leaveBy, now > leaveBy { left(member) }
            guard let joinBy = member.joinBy, now > joinBy else { continue }
            member.joinBy = nil
            member.socket.close(.noJoin)
        }
    }

    func received(_ text: String, from id: MemberID) {
        guard let member = rooms[id] else { return }
        if let reply = FrameReply(confirmation: text) { return take(reply, from: member) }
        let isPoint = PointRequest.begins(text)
        if isPoint, !pointing.admits(member, isCheap: true) { return }
        let arrival = configuration.clock()
        let message = SkyRTCMessage(text)
        if let stamp = message?.clockStamp, let room = member.room {
            // The page shows one track at a time.
            let watched = member.sessions.keys.first.map { TrackAddress(room: room, track: $0) }
            let waited = watched.flatMap { rooms[$0]?.media.changeAge }
            let reply = SkyRTCReply(
                clockStamp: stamp, received: arrival, sent: configuration.clock(), waited: waited)
            return member.socket.send(reply.text)
        }
        if let reply = message?.frameReply { return take(reply, from: member) }
        if let request = message?.pointRequest {
            guard isPoint || pointing.admits(member, isCheap: false) else { return }
            if pointing.carryOut(request, of: member) { return }
        }
        if let request = message?.turnRequest, presenters.carryOut(request, of: member) { return }
        if let request = message?.chatRequest, chat.carryOut(request, of: member) { return }
        if let request = message?.doorRequest, doors.carryOut(request, of: member) { return }
        var event = message?.event(from: id) ?? .unknown(id)
        if case .join(_, var key, let role, let name) = event {
            member.joinBy = nil
            doors.stopWaiting(id)
            key = admission.limited(key, from: member.address)
            member.gavePassword = !(key.password ?? "").isEmpty
            // Only our page presents within its visit; other programs need the presenters' token for each request.
            let mayOwn = role == .viewer && presenters.acceptsPublishers
            presenters.join(member, asOwner: mayOwn && rooms.directory.grant(to: key).grant == .presenting)
            if let resumption = message?.resumption, resume(resumption, with: key, by: member) { return }
            // Connections of a trusted proxy aren't counted for each address, but who is in a room is.
            if member.room == nil, !presence.mayEnter(from: member.address) { return refuse(id, .full) }
            event = .join(id, key, role, name: name)
            let secrets = [message?.resumption, message?.formerVisit].compactMap(\.self)
            guard doors.isOpen(for: member, by: event, secrets: secrets) else {
                // It may have been in another room.
                member.room = nil
                return handle(.leave(id))
            }
        }
        handle(event)
    }

    func ended(_ id: MemberID) {
        guard let member = rooms[id], !awaits(member) else { return }
        left(member)
    }
}

// MARK: - Tracks

extension SkyRTCRooms {
    /// Adds a track to an existing room, and notifies its viewers. Returns false if there can't be such a track.
    func add(_ media: any RoomMedia, as address: TrackAddress) -> Bool {
        let (room, track) = (address.room, address.track)
        guard rooms[address] == nil else {
            log.own.info("room \(room): it has a track \(track) already")
            return false
        }
        for action in rooms.add(media, as: address) { carryOut(action) }
        if rooms[address] == nil { log.own.info("room \(room): the track \(track) can't be added") }
        return rooms[address] != nil
    }

    /// Removes a track, ends the members' sessions for it, and notifies its viewers.
    func remove(_ address: TrackAddress) {
        for action in rooms.remove(address) { carryOut(action) }
    }

    /// Announces the state of a track's source to the viewers of `room`.
    func announce(_ state: SourceState, in room: String, track: TrackName?) {
        guard let address = rooms.address(of: track, in: room), rooms.set(state, of: address) else { return }
        let whose = rooms.label(of: address).map { "the source of \($0)" } ?? "the source"
        // Limited, because a publisher can cause this line any number of times by coming and going.
        log(of: "").info("room \(room): \(whose) is \(state.word)")
        if let reply = stateReply(of: address) { rooms.tellViewers(of: room, reply.text) }
    }

    /// Announces a track's new tag to the viewers of `room`.
    func announce(_ tag: TrackTag, in room: String, track: TrackName) {
        guard rooms.set(tag, of: TrackAddress(room: room, track: track)) else { return }
        rooms.tellViewers(of: room, SkyRTCReply(tracks: rooms.summaries(of: room)).text)
    }

    /// Announces to the viewers of `room` whether a track can be heard.
    func announceSound(_ sound: AudioState, in room: String, track: TrackName?) {
        guard let address = rooms.address(of: track, in: room), rooms.set(sound, of: address) else { return }
        let whose = rooms.label(of: address).map { "the sound of \($0)" } ?? "the sound"
        log(of: "").info("room \(room): \(whose) is \(sound == .none ? "gone" : sound.rawValue)")
        rooms.tellViewers(of: room, SkyRTCReply(sound, track: rooms.label(of: address)).text)
    }

    private func stateReply(of address: TrackAddress) -> SkyRTCReply? {
        rooms[address].map { shared in
            SkyRTCReply(
                shared.state, age: MonotonicTime.now() - shared.since, isSteady: shared.media.isSteady,
                track: rooms.label(of: address))
        }
    }

    /// Sends a new member the states of the sources of its room's tracks, and which tracks have sound.
    func tellStates(to member: RoomMember, in room: String) {
        var replies = rooms.addresses(in: room).compactMap { stateReply(of: $0) }
        if replies.isEmpty { replies = [SkyRTCReply(.waiting, age: MonotonicTime.now() - startTime)] }
        for address in rooms.addresses(in: room) {
            // A track whose sound was never announced has none.
            guard let sound = rooms[address]?.sound, sound != AudioState.none else { continue }
            replies.append(SkyRTCReply(sound, track: rooms.label(of: address)))
        }
        for reply in replies { member.socket.send(reply.text) }
    }
}

// MARK: - Events and actions

extension SkyRTCRooms {
    /// Passes an event about a member to the directory and performs the actions that it returns.
    func handle(_ event: RoomEvent) {
        let before = event.member.flatMap { rooms.directory.place(of: $0) }
        let actions = rooms.handle(event)
        // Done before clients are notified, so that a client that asks in response gets the new numbers.
        if let id = event.member { moved(id, from: before, to: rooms.directory.place(of: id)) }
        for action in actions { carryOut(action) }
    }

    private func moved(_ id: MemberID, from before: RoomDirectory.Place?, to after: RoomDirectory.Place?) {
        guard before != after else { return }
        if let before, let after, before.room == after.room, before.role == after.role, before.name == after.name {
            return presence.changed(in: after.room)
        }
        presence.left(id.text)
        if let before { pointing.moved(id, from: before.room, to: after?.room) }
        if let before { presenters.moved(id, from: before.room, to: after?.role == .viewer ? after?.room : nil) }
        guard let after, let member = rooms[id] else { return }
        let who = Participant(
            id: id.text, name: after.name, address: member.address, kind: after.role == .viewer ? .viewer : .client)
        presence.came(who, to: after.room, sessions: { [unowned self] in rooms[id]?.sessions ?? [:] }) {
            [unowned self] in
            rooms[id].map { sendAway($0) }
        }
    }

    private func carryOut(_ action: RoomAction) {
        switch action {
        case .send(let message, let id): send(message, to: id)
        case .joined(let id, let room, let role): joined(id, room, role)
        case .openSession(let id, let room, let track, let offer):
            openSession(for: id, TrackAddress(room: room, track: track), offer)
        case .openFrames(let id, let room, let track): openFrames(for: id, TrackAddress(room: room, track: track))
        case .closeSession(let id, let track): closeSession(of: id, track)
        case .addCandidate(let id, let candidate, let track):
            rooms[id]?.sessions[track].map { $0.side.remoteCandidates($0.id, fragment: candidate.candidate) }
        case .setPlayoutDelay(let id, let milliseconds, let track):
            rooms[id]?.sessions[track].map {
                $0.side.setPlayoutDelay(of: $0.id, to: .milliseconds(Int64(milliseconds)))
            }
        case .refuse(let id, let refusal): refuse(id, refusal)
        case .tracksChanged(let room):
            rooms.tellViewers(of: room, SkyRTCReply(tracks: rooms.summaries(of: room)).text)
        }
    }

    private func send(_ message: RoomMessage, to id: MemberID) {
        guard let member = rooms[id] else { return }
        if case .peers = message, let room = rooms.directory.place(of: id)?.room {
            return member.socket.send(greeting(of: member, in: room, message).text)
        }
        let text = SkyRTCReply(message).text
        let isRelayed =
            switch message {
            case .offer, .candidate: true
            case .answer(_, let sender, _): rooms[sender] != nil
            default: false
            }
        // A client that reads slowly misses other members' messages, rather than being disconnected.
        if isRelayed, member.socket.unsentCount + text.utf8.count > Self.maxRelayed { return }
        member.socket.send(text)
    }

    /// How many bytes may be queued for a member before messages from other members are dropped.
    private static let maxRelayed = 128 * 1024

    private func joined(_ id: MemberID, _ room: String, _ role: MemberRole) {
        guard let member = rooms[id] else { return }
        member.room = room
        member.socket.admit()
        pointers.forget(id)
        let who = role == .viewer ? "viewer" : "SkyRTC client"
        log(of: member.address).info("room \(room): a \(who) came from \(member.address)")
        if role == .viewer { tellAll(to: member, in: room) }
    }

    private func refuse(_ id: MemberID, _ refusal: RoomRefusal) {
        guard let member = rooms[id] else { return }
        member.room = nil
        let code: WebSocketConnection.CloseCode
        switch refusal {
        case .notAdmitted:
            code = .notAdmitted
            if admission.noteWrongToken(from: member.address) {
                log(of: member.address).info("a client from \(member.address) was not admitted")
            }
        case .needsPassword:
            code = .needsPassword
            if member.gavePassword { admission.noteWrongPassword(from: member.address) }
        case .full: code = .full
        case .locked: code = .locked
        case .turnedAway: code = .turnedAway
        case .expired:
            code = .expired
            presence.left(id.text)
        }
        member.socket.send(SkyRTCReply(refusal).text)
        member.socket.close(code)
    }
}
