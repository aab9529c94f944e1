import MediaSessions
import Rooms
import Threading

/// The members' sessions with the host.
extension SkyRTCRooms {
    func openSession(for id: MemberID, _ address: TrackAddress, _ offer: String) {
        guard let member = rooms[id] else { return }
        let (room, track) = (address.room, address.track)
        do throws(MediaSessionError) {
            let media = try rooms.media(of: track, in: room).media
            let (opened, session) = try sessionEnds.open(offer, from: member.address, at: media) {
                [unowned self] reason in
                sessionEnded(of: id, track, reason)
            }
            member.sessions[track] = session
            pointers.watch(session, of: address, for: id)
            handle(.sessionAnswered(id, track: track, sdp: opened.answer))
            if rooms.directory.namesTracks(in: room), rooms.directory.viewers(in: room).contains(id) {
                pointers.tell(of: address, to: member)
            }
            sessionsChanged(in: room)
        } catch {
            refuse(member, address, error)
        }
    }

    /// Sends the pictures of a track on the member's WebSocket.
    func openFrames(for id: MemberID, _ address: TrackAddress) {
        guard let member = rooms[id] else { return }
        let (room, track) = (address.room, address.track)
        // There is one stream on a WebSocket.
        if let other = member.frames?.track { handle(.unwatch(id, other)) }
        do throws(MediaSessionError) {
            let media = try rooms.media(of: track, in: room).media
            try frames.open(track, at: media, for: member) { [unowned self] reason in
                sessionEnded(of: id, track, reason)
            }
            if rooms.directory.namesTracks(in: room), rooms.directory.viewers(in: room).contains(id) {
                pointers.tell(of: address, to: member)
            }
            sessionsChanged(in: room)
        } catch {
            refuse(member, address, error)
        }
    }

    /// Handles a member's reply about the pictures on its WebSocket.
    func take(_ reply: FrameReply, from member: RoomMember) {
        guard let track = frames.take(reply, from: member) else { return }
        handle(.unwatch(member.id, track))
    }

    private func refuse(_ member: RoomMember, _ address: TrackAddress, _ refusal: MediaSessionError) {
        log(of: member.address).info("room \(address.room): an offer from \(member.address) was refused: \(refusal)")
        handle(.sessionRefused(member.id, track: address.track, reason: refusal.description))
        // A place may become free soon. The client reconnects after a while and then asks again by itself.
        if case .full = refusal { member.socket.close(.full) }
    }

    func closeSession(of id: MemberID, _ track: TrackName) {
        guard let member = rooms[id], let session = member.sessions.removeValue(forKey: track) else { return }
        frames.forget(track, of: member)
        sessionEnds.close(session)
        if let room = rooms[id]?.room { sessionsChanged(in: room) }
    }

    /// Handles the end of a session by the media layer.
    private func sessionEnded(of id: MemberID, _ track: TrackName, _ reason: String) {
        if let member = rooms[id] {
            member.sessions[track] = nil
            frames.forget(track, of: member)
            // A viewer without a WebSocket has left once its media has ended too.
            if member.leaveBy != nil, member.sessions.isEmpty, !presenters.isPresenting(id) { return left(member) }
        }
        handle(.sessionEnded(id, track: track, reason: reason))
        if let room = rooms[id]?.room { sessionsChanged(in: room) }
    }

    /// Plain clients that watch further tracks count towards the audience of those tracks' pointers.
    private func sessionsChanged(in room: String) {
        if rooms.directory.namesTracks(in: room) { pointers.decide(in: room) }
    }
}
