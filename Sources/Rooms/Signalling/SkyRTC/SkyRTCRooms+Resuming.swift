import Clocks
import MediaTypes
import Rooms
import Threading
import Viewer

/// Viewers whose WebSocket breaks off, or is dead because their address has changed, continue over another WebSocket.
/// Their media sessions, which have their own path, aren't interrupted.
extension SkyRTCRooms {
    /// Treats messages on `socket` as the member's messages.
    func listen(to socket: WebSocketConnection, of id: MemberID) {
        socket.onMessage = { [unowned self] text in received(text, from: id) }
        socket.onEnd = { [unowned self] in ended(id) }
    }

    /// Makes a member leave at the sharer's wish.
    func sendAway(_ member: RoomMember) {
        member.wasRemovedFrom = member.room
        presenters.end(member.id, .removed)
        member.socket.send(SkyRTCReply(refusal: "the sharer has sent you away").text)
        member.socket.close(.removed)
        handle(.leave(member.id))
    }

    func left(_ member: RoomMember) {
        let id = member.id
        doors.stopWaiting(id)
        if let room = rooms.directory.place(of: id)?.room { doors.left(member, room) }
        handle(.leave(id))
        pointers.forget(id)
        rooms[id] = nil
        if let room = member.room { log(of: member.address).info("room \(room): a viewer left") }
    }

    /// Whether `member`, whose WebSocket has just ended, may still continue over another WebSocket: a viewer with media
    /// sessions, or a presenter, whose client hasn't said that it leaves.
    func awaits(_ member: RoomMember) -> Bool {
        if let track = member.frames?.track { handle(.unwatch(member.id, track)) }
        guard member.socket.brokeOff, !member.sessions.isEmpty || presenters.isPresenting(member.id),
            rooms.directory.greetingAgain(member.id) != nil
        else { return false }
        presenters.disconnected(member.id)
        member.leaveBy = MonotonicTime.now() + configuration.limits.returnTime
        return true
    }

    /// Lets the viewer with the secret `resumption` continue over the WebSocket of `newcomer`, if `key` still opens its
    /// room. Returns whether there is such a viewer.
    ///
    /// A member of the meeting can't continue, because it has missed the other members' messages; it leaves, and joins
    /// again. A viewer who was removed while its WebSocket was dead is notified now.
    func resume(_ resumption: String, with key: RoomKey, by newcomer: RoomMember) -> Bool {
        guard newcomer.room == nil, let room = rooms.directory.grant(to: key).room?.name,
            let member = rooms.members.values.first(where: { $0.resumption == resumption }), member !== newcomer
        else { return false }
        if member.wasRemovedFrom == room {
            sendAway(newcomer)
            return true
        }
        guard rooms.directory.place(of: member.id)?.room == room else { return false }
        guard let message = rooms.directory.greetingAgain(member.id) else {
            member.socket.abort()
            return false
        }
        // Pictures over the former WebSocket don't continue.
        if let track = member.frames?.track { handle(.unwatch(member.id, track)) }
        rooms[newcomer.id] = nil
        member.resume(by: newcomer)
        presenters.returned(member)
        presence.moved(member.id.text, to: member.address)
        listen(to: member.socket, of: member.id)
        member.socket.admit()
        let watched = rooms.directory.tracksWatched(by: member.id)
        member.socket.send(greeting(of: member, in: room, message, watching: watched).text)
        tellAll(to: member, in: room)
        return true
    }

    /// The `_peers` message for `member`.
    func greeting(
        of member: RoomMember, in room: String, _ message: RoomMessage, watching: [TrackName]? = nil
    ) -> SkyRTCReply {
        let isViewer = rooms.directory.place(of: member.id)?.role == .viewer
        let turn = isViewer ? presenters.report(of: member, in: room) : nil
        return SkyRTCReply(
            message, tracks: rooms.summaries(of: room), page: ViewerFiles.version,
            iceServers: configuration.iceServers.forClient(), resumption: isViewer ? member.resumption : nil,
            watching: watching, turn: turn, camera: isViewer ? configuration.camera : nil,
            pointing: isViewer && pointing.isAllowed, chat: isViewer ? chat.summary(of: room) : nil)
    }

    /// Sends a viewer the whole state of its room, and of the tracks that it watches.
    func tellAll(to member: RoomMember, in room: String) {
        tellStates(to: member, in: room)
        if !rooms.directory.namesTracks(in: room) {
            if let only = rooms.address(of: nil, in: room) { pointers.tell(of: only, to: member) }
        } else {
            for track in rooms.directory.tracksWatched(by: member.id) {
                pointers.tell(of: TrackAddress(room: room, track: track), to: member)
            }
        }
        presenters.tellTurns(of: room, to: member)
        doors.tell(of: room, to: member)
        chat.joined(member, room)
        presence.tellRoster(of: room, to: member)
    }
}
