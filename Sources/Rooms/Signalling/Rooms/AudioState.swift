/// Whether a track can be heard, as its viewers are told.
public enum AudioState: String, Sendable {
    /// No source of sound is there.
    case none
    /// A source of sound is there. It may be silent.
    case live
    /// The sharer has muted or paused it.
    case muted
}
