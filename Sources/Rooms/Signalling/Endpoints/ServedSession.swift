import MediaSessions

/// A session of WHEP or WHIP as the media layer serves it.
struct ServedSession {
    /// The media server of a player's session; nil for a publisher's.
    let side: (any SessionServer)?
    let takeCandidates: (_ fragment: String) -> Void
    let restartICE: (_ fragment: String) throws(MediaSessionError) -> RestartedSession
    let close: () -> Void
}
