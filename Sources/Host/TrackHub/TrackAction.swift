public import CaptureLink
public import MediaTypes

/// What ``TrackHub`` is to do for a track.
public enum TrackAction: Sendable {
    // For the source.
    case tell(SourceDemand.Word)
    case requestKeyFrame
    case requestPicture
    case setSharerPaused(Bool)
    case setMicrophoneMuted(Bool)
    case setPointerMode(PointerMode)
    // For the host's own encoder.
    /// The source or its abilities have changed, or it is gone; says whether there is a source that makes key frames on
    /// request.
    case sourceChanged(canMakeKeyFrames: Bool)
    /// A key frame that shows the last picture is needed, unless the source sends one within this time.
    case makeKeyFrame(after: Interval)
    /// From now on, viewers get the pictures of the host's own encoder.
    case noteFallbackBegan
    /// The low layer is wanted at this bit rate, or no more.
    case encodeLow(at: BitRate?)
    /// The low layer's next frame is to be a key frame, and is wanted at once.
    case makeLowKeyFrame
    /// Some viewer checks its pictures, or none does any more.
    case checkPictures(Bool)
    // For viewers.
    case announce(SourceState)
    case report(PointerReport)
}
