public import MediaTypes

/// A frame with its place on a track, as every reader of a hub receives it.
public struct TrackFrame: Sendable {
    /// The frame's number, counted from 0 for each track without a gap; a reader that sees a gap has lost something.
    public let number: UInt64
    /// The frame itself, shared by all readers. Its capture time is on this machine's clock; nil if that time isn't
    /// known.
    public let coded: CodedFrame
    /// Its place on the track's timeline: later than that of every frame before it.
    public let time: MediaTime
    /// The track's format at this frame.
    public let format: TrackFormat
    /// When the hub got it.
    public let arrival: MonotonicTime

    /// Creates a frame at `time` on its track.
    public init(
        number: UInt64, coded: CodedFrame, time: MediaTime, format: TrackFormat = TrackFormat(codec: .h264),
        arrival: MonotonicTime
    ) {
        self.number = number
        self.coded = coded
        self.time = time
        self.format = format
        self.arrival = arrival
    }
}
