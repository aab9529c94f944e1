/// What signalling needs to let publishers in: who sends a room's pictures instead of watching them.
public protocol TrackPublishing: Sendable {
    /// Answers a publisher's offer with a session whose pictures are those of `track`, which is made where the room has none of that
    /// name; quick, never blocks. Called on the signalling thread.
    ///
    /// - Parameter onEnd: called at most once, on any thread, when the session ended by itself, with the reason in words; not after
    ///   `close`.
    func publish(
        offer sdp: String, room: String, track: String, onEnd: @escaping @Sendable (String) -> Void
    ) throws(PublishingRefusal) -> OpenedSession

    /// Begins ICE anew for a session, as ``RoomMedia/restartICE(_:fragment:)`` does.
    func restartICE(_ session: MediaSessionID, fragment: String) throws(MediaRefusal) -> RestartedSession

    /// Ends a session; unknown ids are ignored. Called on the signalling thread.
    func close(_ session: MediaSessionID)
}

/// Why a publisher is not let in; the text is for its user.
public enum PublishingRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Its offer is not taken. The HTTP status is the refusal's.
    case offer(MediaRefusal)
    /// The track has a source already. HTTP 409.
    case taken(String)

    public var description: String {
        switch self {
        case .offer(let refusal): refusal.description
        case .taken(let why): why
        }
    }
}
