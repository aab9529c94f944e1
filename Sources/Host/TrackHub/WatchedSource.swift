public import MediaTypes

/// A source as its viewers see it: the tracks that share its clock, at most one of each kind. A screen has pictures,
/// and may have sound beside them. The session of a viewer sends all of them.
public struct WatchedSource: Sendable {
    /// The track of each kind that the source has.
    public let tracks: [TrackFormat.Kind: TrackHub]

    /// A source of pictures, and of sound if it has a track for that.
    public init(video: TrackHub, audio: TrackHub? = nil) {
        tracks = [.video: video, .audio: audio].compactMapValues { $0 }
    }

    /// A source of sound alone.
    public init(audio: TrackHub) {
        tracks = [.audio: audio]
    }

    /// The kinds of its tracks, pictures first.
    public var kinds: [TrackFormat.Kind] { [.video, .audio].filter { tracks[$0] != nil } }
}
