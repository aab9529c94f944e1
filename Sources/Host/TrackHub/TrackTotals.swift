/// What a track has done so far, whatever its sources were. These numbers never fall.
public struct TrackTotals: Sendable {
    /// The sources' work, by their reports.
    public var work = SourceTotals()
    /// Frames of the source layer that readers could take.
    public var frames: UInt64 = 0
    /// Key frames among them, of sources and of the host's own encoder.
    public var keyFrames: UInt64 = 0
    /// Key frames that sources were asked for, or the host's own encoder if a source makes none on request.
    public var keyFrameRequests: UInt64 = 0

    /// Nothing done.
    public init() {}

    /// Adds what another track has done.
    public mutating func add(_ other: TrackTotals) {
        work.add(other.work)
        frames &+= other.frames
        keyFrames &+= other.keyFrames
        keyFrameRequests &+= other.keyFrameRequests
    }
}

extension Track {
    /// What the track has done so far.
    var totals: TrackTotals {
        var totals = TrackTotals()
        totals.work = work.total
        totals.frames = self[.source].nextNumber
        totals.keyFrames = keyFrames.arrivals
        totals.keyFrameRequests = keyFrames.requests
        return totals
    }
}
