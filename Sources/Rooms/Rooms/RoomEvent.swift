/// An event that concerns a room. The shell has parsed it from JSON, or it comes from a closed socket or the media
/// layer.
///
/// If a client names no track, the room's first track is meant.
public enum RoomEvent: Sendable, Equatable {
    /// `__join`. A member that is already in a room moves. `name` is the member's name as the client sent it.
    case join(MemberID, RoomKey, MemberRole, name: String? = nil)
    /// The member's socket has closed. SkyRTC has no other way to leave.
    case leave(MemberID)
    /// `__meet`: a viewer joins the meeting, so that its other members see it, or leaves it.
    case meet(MemberID, Bool)
    /// `__offer` to another member of the mesh or to the host.
    case offer(from: MemberID, to: MemberID, sdp: String, track: TrackName? = nil)
    /// `__frames`: the member wants the pictures of a track on its WebSocket.
    case frames(MemberID, TrackName? = nil)
    /// `__answer` to another member of the mesh.
    case answer(from: MemberID, to: MemberID, sdp: String)
    /// `__ice_candidate` to another member of the mesh or to the host.
    case candidate(from: MemberID, to: MemberID, ICECandidate, track: TrackName? = nil)
    /// `__hold`: the member wants the pictures of a track held back for so many milliseconds.
    case setPlayoutDelay(MemberID, milliseconds: Int, TrackName? = nil)
    /// `__unwatch`: the member stops watching a track.
    case unwatch(MemberID, TrackName?)
    /// The media layer answered the offer that `RoomAction.openSession` carried.
    case sessionAnswered(MemberID, track: TrackName = .screen, sdp: String)
    /// The media layer refused the offer.
    case sessionRefused(MemberID, track: TrackName = .screen, reason: String)
    /// The member's media session for a track has ended.
    case sessionEnded(MemberID, track: TrackName = .screen, reason: String)
    /// A track was added to a room.
    case addTrack(TrackName, room: String)
    /// A track was removed from a room; `reason` is told to its viewers.
    case removeTrack(TrackName, room: String, reason: String)
    /// A message with an event that the protocol doesn't define. It is counted and otherwise ignored.
    case unknown(MemberID)

    /// The member whose message or session this is about.
    public var member: MemberID? {
        switch self {
        case .join(let member, _, _, _), .leave(let member), .meet(let member, _), .offer(let member, _, _, _),
            .frames(let member, _), .answer(let member, _, _), .candidate(let member, _, _, _),
            .setPlayoutDelay(let member, _, _),
            .unwatch(let member, _),
            .sessionAnswered(let member, _, _), .sessionRefused(let member, _, _), .sessionEnded(let member, _, _),
            .unknown(let member):
            member
        case .addTrack, .removeTrack: nil
        }
    }
}

/// An action that the shell performs in response to an event.
public enum RoomAction: Sendable, Equatable {
    case send(RoomMessage, to: MemberID)
    /// The member has joined. Its `_peers` message is sent before this.
    case joined(MemberID, room: String, MemberRole)
    /// Have the media layer answer `offer` for a track. `sessionAnswered` or `sessionRefused` reports the result.
    case openSession(MemberID, room: String, track: TrackName = .screen, offer: String)
    /// Have the media layer send the member the pictures of a track on its WebSocket. `sessionRefused` reports a
    /// failure.
    case openFrames(MemberID, room: String, track: TrackName = .screen)
    /// End the member's media session for a track. No event follows.
    case closeSession(MemberID, track: TrackName = .screen)
    /// Hand a candidate to the member's media session for a track.
    case addCandidate(MemberID, ICECandidate, track: TrackName = .screen)
    /// Have the member's media session for a track hold back its pictures, 0 to 500 ms.
    case setPlayoutDelay(MemberID, milliseconds: Int, track: TrackName = .screen)
    /// The member is in no room. Tell it why and close its socket.
    case refuse(MemberID, RoomRefusal)
    /// The set of tracks in the room has changed. Tell its viewers.
    case tracksChanged(room: String)
}

/// Why a client may not join a room.
public enum RoomRefusal: Sendable, Equatable {
    /// The room doesn't exist, or the token is wrong or has expired. The client isn't told which.
    case notAdmitted
    /// The token is right, but the password is missing or wrong.
    case needsPassword
    /// The room's tokens have expired. Only clients that were in the room are told this.
    case expired
    /// The room is full. Only clients with the right token are told this.
    case full
    /// The room is locked. Only clients with the right token are told this.
    case locked
    /// The client waited to be let in, and was refused.
    case turnedAway
}

/// A message from the server to a member (SkyRTC's server-to-client events).
///
/// `track` is nil if the room has never had more than one track. Clients that know nothing of tracks then see the
/// messages that they know.
public enum RoomMessage: Sendable, Equatable {
    /// `_peers`: the members that are already there. The newcomer offers to them.
    case peers(connections: [MemberID], you: MemberID, host: MemberID)
    /// `_new_peer`: a member has joined the mesh and will offer.
    case newPeer(MemberID, name: String? = nil)
    /// `_remove_peer`.
    case removePeer(MemberID)
    /// `_offer`.
    case offer(sdp: String, from: MemberID)
    /// `_answer`.
    case answer(sdp: String, from: MemberID, track: TrackName? = nil)
    /// `_ice_candidate`.
    case candidate(ICECandidate, from: MemberID)
    /// `_meeting`, an extension: the members who are already in the meeting. The newcomer offers to them.
    case meeting([MemberDescription])
    /// `_meeting`, an extension: the member has left the meeting, or can't join it for the given reason.
    case notMeeting(reason: String?)
    /// `_refused`, an extension: the host can't serve this offer, for the given reason.
    case offerRefused(host: MemberID, reason: String, track: TrackName? = nil)
    /// `_session_ended`, an extension: the host has stopped sending that track to this member.
    case sessionEnded(host: MemberID, reason: String, track: TrackName? = nil)
}

/// A member as described to others.
public struct MemberDescription: Sendable, Equatable {
    /// The member's identifier.
    public let id: MemberID
    /// The name that the member has chosen.
    public let name: String?
    /// Whether the member is in the meeting, where others can see and call it.
    public let isMeeting: Bool

    public init(id: MemberID, name: String?, isMeeting: Bool) {
        self.id = id
        self.name = name
        self.isMeeting = isMeeting
    }
}

/// A trickled ICE candidate, with the parts that SkyRTC's clients send.
public struct ICECandidate: Sendable, Equatable {
    /// The candidate line, without "a=".
    public let candidate: String
    /// `label` in SkyRTC, otherwise `sdpMLineIndex`: the index of the candidate's m-line, counted from 0.
    public let mediaIndex: Int?
    /// `id` in SkyRTC, otherwise `sdpMid`: the identification tag of that m-line.
    public let mediaTag: String?

    public init(candidate: String, mediaIndex: Int?, mediaTag: String?) {
        self.candidate = candidate
        self.mediaIndex = mediaIndex
        self.mediaTag = mediaTag
    }
}
