/// How often a source sends a key frame by itself, for receivers that can't ask for one.
public enum KeyFrameInterval: Hashable, Sendable {
    /// Once in this time, even while nothing changes.
    case time(Interval)
    /// Every so many frames, of which a screen that stands still has few.
    case frames(Int)
}
