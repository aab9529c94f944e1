/// Why a client can't publish into a track.
package enum PublisherRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The token is wrong, has expired, or lets its holder only view. There may be no such room.
    case unauthorized
    /// The track of this name has another source.
    case taken(track: String)
    /// The host serves no more publishers, for this reason.
    case full(String)
    /// The client's stream can't be published, or the room can't have the track, for this reason.
    case unusable(String)

    package var description: String {
        switch self {
        case .unauthorized: "the presenters' token is missing"
        case .taken(let track): "the track \(track) already has a source"
        case .full(let reason), .unusable(let reason): reason
        }
    }
}
