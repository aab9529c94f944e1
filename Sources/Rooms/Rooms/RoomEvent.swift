/// What happens to a room, in types; the shell has read it from JSON, a closed socket or the media side.
///
/// Where a client names no track, the room's first is meant.
public enum RoomEvent: Sendable, Equatable {
    /// `__join`. Who is in a room already moves. `name` is what the member calls itself, as it sent it.
    case join(MemberID, RoomKey, MemberRole, name: String? = nil)
    /// The member's socket is gone. SkyRTC has no other way to leave.
    case leave(MemberID)
    /// `__meet`: a viewer wants to be seen by those who meet, or no more.
    case meet(MemberID, Bool)
    /// `__offer` to another of the mesh or to the host.
    case offer(from: MemberID, to: MemberID, sdp: String, track: TrackName? = nil)
    /// `__answer` to another of the mesh.
    case answer(from: MemberID, to: MemberID, sdp: String)
    /// `__ice_candidate` to another of the mesh or to the host.
    case candidate(from: MemberID, to: MemberID, ICECandidate, track: TrackName? = nil)
    /// `__unwatch`: the member wants no more of a track.
    case unwatch(MemberID, TrackName?)
    /// The media side answered the offer that `RoomAction.openSession` carried.
    case sessionAnswered(MemberID, track: TrackName = .screen, sdp: String)
    /// The media side refused the offer.
    case sessionRefused(MemberID, track: TrackName = .screen, reason: String)
    /// The member's media session of a track is over.
    case sessionEnded(MemberID, track: TrackName = .screen, reason: String)
    /// A room has another track from here on.
    case addTrack(TrackName, room: String)
    /// A track is no more; `reason` is for those who watch it.
    case removeTrack(TrackName, room: String, reason: String)
    /// A message whose event the protocol doesn't have. It is counted and otherwise ignored.
    case unknown(MemberID)

    /// Whose message it is, or whose session.
    public var member: MemberID? {
        switch self {
        case .join(let member, _, _, _), .leave(let member), .meet(let member, _), .offer(let member, _, _, _),
            .answer(let member, _, _), .candidate(let member, _, _, _), .unwatch(let member, _),
            .sessionAnswered(let member, _, _), .sessionRefused(let member, _, _), .sessionEnded(let member, _, _),
            .unknown(let member):
            member
        case .addTrack, .removeTrack: nil
        }
    }
}

/// What the shell is to do about an event.
public enum RoomAction: Sendable, Equatable {
    case send(RoomMessage, to: MemberID)
    /// The member is in; its `_peers` goes before this.
    case joined(MemberID, room: String, MemberRole)
    /// Have the media side of a track answer `offer`, and tell by `sessionAnswered` or `sessionRefused`.
    case openSession(MemberID, room: String, track: TrackName = .screen, offer: String)
    /// End the member's media session of a track. No event answers this.
    case closeSession(MemberID, track: TrackName = .screen)
    /// A candidate for the member's media session of a track.
    case addCandidate(MemberID, ICECandidate, track: TrackName = .screen)
    /// The member is in no room; tell it so and close its socket.
    case refuse(MemberID, RoomRefusal)
    /// The room has other tracks than before; its viewers are to be told.
    case tracksChanged(room: String)
}

/// Why somebody may not join.
public enum RoomRefusal: Sendable, Equatable {
    /// No such room, a wrong token, or one whose time is over; which of them is nobody's business.
    case notAdmitted
    /// The token is right, and the password that goes with it missing or wrong.
    case needsPassword
    /// The time is over for which the room let anybody in. Said only to who was inside.
    case expired
    /// The room has all the plain clients it takes. Said only to who has the token.
    case full
}

/// A message from the server to a member (SkyRTC's server-to-client events).
///
/// `track` is nil where the room has never had more than one: clients that know nothing of tracks see what they always saw.
public enum RoomMessage: Sendable, Equatable {
    /// `_peers`: who is there already; the newcomer offers to them.
    case peers(connections: [MemberID], you: MemberID, host: MemberID)
    /// `_new_peer`: somebody can be seen from here on, and will offer.
    case newPeer(MemberID, name: String? = nil)
    /// `_remove_peer`.
    case removePeer(MemberID)
    /// `_offer`.
    case offer(sdp: String, from: MemberID)
    /// `_answer`.
    case answer(sdp: String, from: MemberID, track: TrackName? = nil)
    /// `_ice_candidate`.
    case candidate(ICECandidate, from: MemberID)
    /// `_meeting`, ours: who meets already; the newcomer offers to them.
    case meeting([Person])
    /// `_meeting`, ours: the member meets nobody any more, or can't, for that reason.
    case notMeeting(reason: String?)
    /// `_refused`, ours, with a reason: the host can't serve this offer.
    case offerRefused(host: MemberID, reason: String, track: TrackName? = nil)
    /// `_session_ended`, ours: the host sends no picture of that track to this member any more.
    case sessionEnded(host: MemberID, reason: String, track: TrackName? = nil)
}

/// A member as others are told of it.
public struct Person: Sendable, Equatable {
    public let id: MemberID
    /// What it calls itself.
    public let name: String?
    /// Whether it can be seen and called by those who meet.
    public let isMeeting: Bool

    public init(id: MemberID, name: String?, isMeeting: Bool) {
        self.id = id
        self.name = name
        self.isMeeting = isMeeting
    }
}

/// A trickled candidate with the names that SkyRTC's clients use for its parts.
public struct ICECandidate: Sendable, Equatable {
    /// The candidate line, without "a=".
    public let candidate: String
    /// `label`, elsewhere `sdpMLineIndex`: which m-line it belongs to, counted from 0.
    public let mediaIndex: Int?
    /// `id`, elsewhere `sdpMid`: the tag of that m-line.
    public let mediaTag: String?

    public init(candidate: String, mediaIndex: Int?, mediaTag: String?) {
        self.candidate = candidate
        self.mediaIndex = mediaIndex
        self.mediaTag = mediaTag
    }
}
