public import CaptureLink
public import MediaTypes

/// What ``TrackHub`` does for a track.
public enum TrackAction: Sendable {
    // For the source.
    case tell(SourceDemand.Word)
    case requestKeyFrame
    case requestPicture
    case setSharerPaused(Bool)
    case setPointerMode(PointerMode)
    // For the host's own encoder.
    /// Another source has come, or none is left, which makes key frames on request or doesn't.
    case sourceChanged(canMakeKeyFrames: Bool)
    /// A key frame of the last picture is needed, unless the source makes one within that time.
    case makeKeyFrame(after: Interval)
    /// The host's own encoder carries the track from now on.
    case noteHostCarries
    // For viewers.
    case announce(SourceState)
    case report(PointerReport)
}
