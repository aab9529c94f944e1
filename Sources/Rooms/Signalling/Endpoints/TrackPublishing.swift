public import MediaSessions
public import MediaTypes

/// What signalling needs to accept publishers, who send a room's pictures.
public protocol TrackPublishing: Sendable {
    /// Answers a publisher's offer with a session whose pictures become the pictures of `track`. The track is created
    /// if the room has none of that name. Returns quickly and never blocks. Called on the signalling thread.
    ///
    /// - Parameters:
    ///   - presenter: the member who publishes from our page; nil for another publisher.
    ///   - onEnd: called at most once, on any thread, when the session ends on its own, with the reason as text. It is
    ///     not called after `close`.
    /// - Throws: `offer` if the offer is rejected, or `taken` if the track already has a source.
    func publish(
        offer sdp: String, room: String, track: String, presenter: Presenter?,
        onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingError) -> OpenedSession

    /// Restarts ICE for a session, as ``SessionServer/restartICE(_:fragment:)`` does. Throws ``MediaSessionError`` as
    /// well.
    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaSessionError) -> RestartedSession

    /// Adds the peer's candidates, as ``SessionServer/remoteCandidates(_:fragment:)`` does.
    func remoteCandidates(_ session: MediaSessionID, fragment: String)

    /// Whether video or audio of a session has arrived since `time`. Called on the signalling thread.
    func hasReceived(_ session: MediaSessionID, since time: MonotonicTime) -> Bool

    /// Ends a session, and tells the track's viewers `reason`; if that is nil, that the publisher has left. Unknown ids
    /// are ignored. Called on the signalling thread.
    func close(_ session: MediaSessionID, reason: String?)
}

/// Why a publisher is refused. The text is for its user.
public enum PublishingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The offer is rejected. The HTTP status is the refusal's status.
    case offer(MediaSessionError)
    /// The track already has a source. HTTP 409.
    case taken(String)

    public var description: String {
        switch self {
        case .offer(let refusal): refusal.description
        case .taken(let why): why
        }
    }
}
