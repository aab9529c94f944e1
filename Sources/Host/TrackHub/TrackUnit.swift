public import MediaTypes

/// An access unit with its place on a track, as every reader of a hub receives it.
public struct TrackUnit: Sendable {
    /// The unit's number, counted from 0 for each track without a gap; a reader that sees a gap has lost something.
    public let number: UInt64
    /// The coded picture, shared by all readers. Its capture time is on this machine's clock, or nil if that isn't
    /// known.
    public let unit: AccessUnit
    /// Its place on the track's timeline: later than that of every unit before it.
    public let time: MediaTime
    /// The chroma format that a decoder must support, according to the SPS in force.
    public let chroma: ChromaFormat

    /// Creates a unit at `time` on its track.
    public init(number: UInt64, unit: AccessUnit, time: MediaTime, chroma: ChromaFormat = .yuv420) {
        self.number = number
        self.unit = unit
        self.time = time
        self.chroma = chroma
    }
}
