/// The state of a track's source, as viewers are told.
public enum SourceState: Sendable, Equatable {
    /// No source has come yet.
    case waiting
    /// A source is there. Its pictures arrive, or would if the screen changed.
    case live
    /// A source is there, but deliberately shows nothing of the screen; viewers keep the last picture.
    case paused(PauseReason)
    /// The source went away at that time, for that reason; viewers keep the last picture, and the source may come back.
    case gone(since: MonotonicTime, reason: String)
}

/// Why viewers don't see the screen although there is a source.
public enum PauseReason: Sendable, Equatable {
    /// The sharer has paused.
    case sharer
    /// The screen is locked.
    case screenLocked
    /// What is shared, a window or a monitor, is not on the screen just now.
    case windowHidden
}
