public import MediaTypes

/// A source as its viewers see it: the tracks that share its clock, at most one of each kind. A screen has pictures
/// today, and may have sound beside them. The session of a viewer sends all of them.
public struct WatchedSource: Sendable {
    /// The track of each kind that the source has.
    public let tracks: [TrackFormat.Kind: TrackHub]

    /// A source of pictures.
    public init(video: TrackHub) {
        tracks = [.video: video]
    }
}
