import MediaTypes

/// One of the encodings of a track's pictures. A reader takes the frames of one of them.
public enum Layer: Hashable, Sendable, CaseIterable {
    /// What the source sends.
    case source
    /// What the host re-encodes, at a lower bit rate, for viewers whose network paths can't carry the source's own
    /// frames. It is made only while somebody takes it.
    case low
}

/// The frames of one layer of a track: their numbers, the cache that a new reader begins with, and which of them may
/// still be shown.
struct LayerFrames: Sendable {
    /// The number of the next frame.
    private(set) var nextNumber: UInt64 = 0
    /// The lowest number of a frame that may still be shown to anybody.
    private(set) var firstShown: UInt64 = 0
    private(set) var cache: FrameCache

    init(limits: CacheLimits) { cache = FrameCache(limits: limits) }

    /// Numbers the next frame and caches it. Sound isn't cached: a reader can begin with each packet, and one from
    /// before a silence would be hours old.
    mutating func append(
        _ coded: CodedFrame, at time: MediaTime, format: TrackFormat, arrival: MonotonicTime
    ) -> TrackFrame {
        let frame = TrackFrame(number: nextNumber, coded: coded, time: time, format: format, arrival: arrival)
        nextNumber += 1
        if format.kind == .video { cache.append(frame) }
        return frame
    }

    /// Drops the cached frames: a viewer who joins from now on waits for a key frame, and one who has not yet received
    /// all of them receives no more.
    mutating func forget() {
        cache.clear()
        firstShown = nextNumber
    }
}
