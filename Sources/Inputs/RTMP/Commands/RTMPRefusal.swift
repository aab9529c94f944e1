/// Why a client may not publish. The codes are those that clients know: OBS writes the text of "Denied" and "Rejected"
/// to its log, GStreamer knows "Denied" and "BadName", and FFmpeg prints the text of each.
public enum RTMPRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The token is wrong, has expired, or lets its holder only view.
    case unauthorized
    /// The track has another source. The text says what to do.
    case taken(String)
    /// What the client sends can't be published, for this reason.
    case unusable(String)

    var code: String {
        switch self {
        case .unauthorized: "NetStream.Publish.Denied"
        case .taken: "NetStream.Publish.BadName"
        case .unusable: "NetStream.Publish.Rejected"
        }
    }

    public var description: String {
        switch self {
        // It doesn't depend on whether the room exists, so that clients don't learn which rooms do.
        case .unauthorized: "the stream key needs the presenters' token: ROOM?token=TOKEN"
        case .taken(let text), .unusable(let text): text
        }
    }
}
