public import MediaTypes

/// An access unit with its place on a track: what every reader of a hub gets.
public struct TrackUnit: Sendable {
    /// Counts a track's access units from 0 without a gap; a reader that sees one has lost something.
    public let number: UInt64
    /// The coded picture, shared by all readers. Its capture time is on this machine's clock, or nil where that isn't known.
    public let unit: AccessUnit
    /// Its place on the track's timeline: later than that of every unit before it.
    public let time: MediaTime
    /// What a decoder must be able to, by the SPS that holds for it.
    public let chroma: ChromaFormat

    /// A unit at `time` on its track.
    public init(number: UInt64, unit: AccessUnit, time: MediaTime, chroma: ChromaFormat = .yuv420) {
        self.number = number
        self.unit = unit
        self.time = time
        self.chroma = chroma
    }
}
