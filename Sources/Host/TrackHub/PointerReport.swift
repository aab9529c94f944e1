public import CaptureLink
public import MediaTypes

/// A report about the pointer: what the track's source says of it, and whether the track's pictures show it.
public enum PointerReport: Sendable, Hashable {
    /// A source was attached or has said what it can do: whether it can leave the pointer out of its pictures.
    case ability(tellsPointer: Bool)
    /// What the pointer looks like from here on.
    case shape(PointerImage)
    /// Where the pointer is, in pixels of a picture of that size; the size is nil if the source has not reported one.
    case position(PointerPosition, of: PictureSize?)
    /// The source went away or started again, so what it reported about the pointer no longer holds.
    case lost
    /// Whether the pointer is drawn in the track's pictures, beginning with the one that was just published.
    case pictures(areDrawn: Bool)
}
