import MediaSessions
import MediaTypes

/// A session of WHEP or WHIP as the media layer serves it.
struct ServedSession {
    /// The media server of a player's session; nil for a publisher's.
    let side: (any SessionServer)?
    let takeCandidates: (_ fragment: String) -> Void
    let restartICE: (_ fragment: String) throws(MediaSessionError) -> RestartedSession
    /// Ends the session. A publisher's viewers are told `reason`; nil if it has left without one.
    let close: (_ reason: String?) -> Void
    /// Whether a publisher's media have arrived since `time`.
    var hasReceived: (_ time: MonotonicTime) -> Bool = { _ in false }
}

extension Endpoint {
    /// A session of this endpoint.
    struct Session {
        let address: TrackAddress
        /// The client. Its identifier isn't the last segment of the URL, because that is secret.
        let who: Participant
        let served: ServedSession
        /// The key that identifies this session when the media layer reports its end.
        let key: UInt64
        /// The ICE generations that the client's later requests are compared with.
        var ice: ICEGenerations
        /// The member who publishes from our page; nil for another client.
        var presenter: Presenter?
    }
}
