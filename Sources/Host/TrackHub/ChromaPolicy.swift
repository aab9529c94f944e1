public import MediaTypes

/// The chroma formats that a track's source can send.
public enum ChromaAbility: Sendable {
    /// There is no source just now.
    case absent
    /// A single format, whichever it is.
    case fixed
    /// 4:4:4 or 4:2:0, as requested.
    case changing
}

/// Decides which chroma format a track should have, and which viewers can't watch it.
///
/// A source that can send 4:4:4 does so as long as every viewer can decode it. Otherwise all viewers get 4:2:0, since
/// each picture is encoded only once. Pure: the time is an argument.
public struct ChromaPolicy: Sendable {
    /// How long 4:2:0 stays after the last viewer that needed it has left, so that reloading a page doesn't cost two
    /// key frames.
    public static let timeout = Interval.seconds(2)

    /// The format that all viewers can decode.
    public private(set) var wanted = ChromaFormat.yuv444
    /// When ``poll(now:)`` has something to do.
    public private(set) var deadline: MonotonicTime?

    /// A policy without viewers.
    public init() {}

    /// Takes the number of viewers that don't decode 4:4:4, whenever a viewer has come or left.
    public mutating func viewersChanged(without444: Int, now: MonotonicTime) {
        if without444 > 0 {
            deadline = nil
            wanted = .yuv420
        } else if wanted == .yuv420, deadline == nil {
            deadline = now + Self.timeout
        }
    }

    /// Goes back to 4:4:4 when it is time. Returns whether ``wanted`` has changed.
    public mutating func poll(now: MonotonicTime) -> Bool {
        guard let due = deadline, due <= now else { return false }
        deadline = nil
        wanted = .yuv444
        return true
    }

    /// Returns whether a viewer that decodes all formats up to `format` can never watch the track, because it can't
    /// decode the track's format and the source can't send another. Returns false while the track's format or the
    /// source isn't known.
    public static func excludes(
        viewerDecoding format: ChromaFormat, track: ChromaFormat?, source: ChromaAbility
    ) -> Bool {
        guard let track, source == .fixed else { return false }
        return !format.decodes(track)
    }

    /// The message for such a viewer.
    public static let exclusion =
        "the screen is shared in 4:4:4 (H.264 High 4:4:4 Predictive, profile-level-id f4001f), which this viewer does not "
        + "decode; it can watch when the sharer starts capture with --chroma 444,420, or with --chroma 420"
}

extension ChromaFormat {
    /// Returns whether a viewer that decodes this format decodes `other`.
    public func decodes(_ other: ChromaFormat) -> Bool { self == .yuv444 || other == .yuv420 }
}
