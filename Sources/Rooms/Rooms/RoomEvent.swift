/// What happens to a room, in types; the shell has read it from JSON, a closed socket or the media side.
public enum RoomEvent: Sendable, Equatable {
    /// `__join`. Who is in a room already moves.
    case join(MemberID, RoomKey, MemberRole)
    /// The member's socket is gone. SkyRTC has no other way to leave.
    case leave(MemberID)
    /// `__offer` to a peer or to the host.
    case offer(from: MemberID, to: MemberID, sdp: String)
    /// `__answer` to a peer.
    case answer(from: MemberID, to: MemberID, sdp: String)
    /// `__ice_candidate` to a peer or to the host.
    case candidate(from: MemberID, to: MemberID, ICECandidate)
    /// The media side answered the offer that `RoomAction.openSession` carried.
    case sessionAnswered(MemberID, sdp: String)
    /// The media side refused the offer.
    case sessionRefused(MemberID, reason: String)
    /// The member's media session is over.
    case sessionEnded(MemberID, reason: String)
    /// A message whose event the protocol doesn't have. It is counted and otherwise ignored.
    case unknown(MemberID)
}

/// What the shell is to do about an event.
public enum RoomAction: Sendable, Equatable {
    case send(RoomMessage, to: MemberID)
    /// The member is in; its `_peers` goes before this.
    case joined(MemberID, room: String, MemberRole)
    /// Have the media side answer `offer`, and tell by `sessionAnswered` or `sessionRefused`.
    case openSession(MemberID, room: String, offer: String)
    /// End the member's media session. No event answers this.
    case closeSession(MemberID)
    /// A candidate for the member's media session.
    case addCandidate(MemberID, ICECandidate)
    /// The member is in no room; tell it so and close its socket.
    case refuse(MemberID, RoomRefusal)
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
public enum RoomMessage: Sendable, Equatable {
    /// `_peers`: who is there already; the newcomer offers to them.
    case peers(connections: [MemberID], you: MemberID, host: MemberID)
    /// `_new_peer`.
    case newPeer(MemberID)
    /// `_remove_peer`.
    case removePeer(MemberID)
    /// `_offer`.
    case offer(sdp: String, from: MemberID)
    /// `_answer`.
    case answer(sdp: String, from: MemberID)
    /// `_ice_candidate`.
    case candidate(ICECandidate, from: MemberID)
    /// `_refused`, ours, with a reason: the host can't serve this offer.
    case offerRefused(host: MemberID, reason: String)
    /// `_session_ended`, ours: the host sends no picture to this member any more.
    case sessionEnded(host: MemberID, reason: String)
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
