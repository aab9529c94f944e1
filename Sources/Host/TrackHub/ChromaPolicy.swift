import H264
public import MediaTypes

/// What a track's source may send.
public enum ChromaAbility: Sendable {
    /// There is no source just now.
    case absent
    /// One format, whichever that is.
    case fixed
    /// 4:4:4 or 4:2:0, as it is asked.
    case changing
}

/// Decides which chroma format a track is to have, and who can't watch it then.
///
/// 4:4:4 is what a source that has it prefers; one viewer without it brings all to 4:2:0, since each picture is encoded once.
/// Pure: the time is an argument.
public struct ChromaPolicy: Sendable {
    /// How long 4:2:0 stays when the last viewer that needed it has left: a page that is loaded anew must not cost two IDRs.
    public static let patience = Interval.seconds(2)

    /// The format that all who watch can decode.
    public private(set) var wanted = ChromaFormat.yuv444
    /// When ``poll(now:)`` has something to do.
    public private(set) var deadline: MonotonicTime?

    private var limitedViewers = 0

    /// A policy without viewers.
    public init() {}

    /// Someone came who decodes all formats up to `format`.
    public mutating func viewerCame(decoding format: ChromaFormat) {
        guard format == .yuv420 else { return }
        limitedViewers += 1
        deadline = nil
        wanted = .yuv420
    }

    /// Someone left who decoded all formats up to `format`.
    public mutating func viewerLeft(decoding format: ChromaFormat, now: MonotonicTime) {
        guard format == .yuv420, limitedViewers > 0 else { return }
        limitedViewers -= 1
        if limitedViewers == 0 { deadline = now + Self.patience }
    }

    /// Goes back to 4:4:4 when it is time; true where ``wanted`` has changed by that.
    public mutating func poll(now: MonotonicTime) -> Bool {
        guard let due = deadline, due <= now else { return false }
        deadline = nil
        wanted = .yuv444
        return true
    }

    /// Whether a viewer that decodes all formats up to `format` can never watch the track: it is in another one, and
    /// its source knows no other. Where either isn't known yet, it may turn out well.
    public static func excludes(
        viewerDecoding format: ChromaFormat, track: ChromaFormat?, source: ChromaAbility
    ) -> Bool {
        guard let track, source == .fixed else { return false }
        return !format.decodes(track)
    }

    /// What such a viewer is told.
    public static let exclusion =
        "the screen is shared in 4:4:4 (H.264 High 4:4:4 Predictive, profile-level-id f4001f), which this viewer does not "
        + "decode; it can watch when the sharer starts capture with --chroma 444,420, or with --chroma 420"
}

extension ChromaFormat {
    /// Whether who decodes this format decodes `other`.
    public func decodes(_ other: ChromaFormat) -> Bool { self == .yuv444 || other == .yuv420 }

    /// What a decoder of `stream` must be able to: by its profile, since one of 4:4:4 may be used for 4:2:0 without loss.
    init(of stream: ProfileLevelID) {
        // 44 is CAVLC 4:4:4 Intra (ITU-T H.264 section A.2.11).
        self = stream.profileIDC == 244 || stream.profileIDC == 44 ? .yuv444 : .yuv420
    }
}
