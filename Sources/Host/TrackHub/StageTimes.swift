import CaptureLink
public import MediaTypes

/// How long the pictures of a connected capture that show a change took for each stage of their way to the host.
public struct StageTimes: Sendable {
    /// From when capture noticed the first change in a picture until it began to grab it: until the paint had settled,
    /// and the picture's turn had come.
    public private(set) var waiting = DelayHistogram()
    /// How old the newest change in a picture has been lately when it was grabbed; nil before the first change.
    ///
    /// Capture learns only when the first change came. While a screen changes all the time, the newest one is half of
    /// the interval between changes old on average, so that a longer wait counts as half of the interval at 30 a
    /// second. The average is over the last 16 pictures or so.
    public private(set) var changeAge: Interval?
    /// From the beginning of grabbing until the picture was encoded.
    public var encoding = DelayHistogram()
    /// From then until the whole picture had arrived at the host. Of a capture on another machine, only pictures count
    /// that came after its clock was known.
    public var link = DelayHistogram()

    private static let oldestNewest = Interval.microseconds(16_667)

    /// Times of no picture.
    public init() {}

    /// Adds how long the first change of a picture waited.
    public mutating func add(waited: Interval) {
        waiting.add(waited)
        let age = min(waited, Self.oldestNewest)
        changeAge = changeAge.map { $0 + (age - $0) / 16 } ?? age
    }

    /// Adds all times of another capture.
    public mutating func add(_ other: StageTimes) {
        waiting.add(other.waiting)
        encoding.add(other.encoding)
        link.add(other.link)
    }
}

/// What a source has told of its work.
struct SourceReport: Sendable {
    let statistics: CaptureStatistics
    /// The epoch that the statistics count from.
    let epoch: UInt64
    /// How long its pictures had taken by then.
    let stages: StageTimes
    let arrival: MonotonicTime

    /// The statistics, without `recent` once they are 5 s old: a running source sends them each 2.5 s.
    func statistics(now: MonotonicTime) -> CaptureStatistics {
        var current = statistics
        if now - arrival > .seconds(5) { current.recent = nil }
        return current
    }

    /// Whether its figures include those of `former`.
    func continues(_ former: SourceReport) -> Bool {
        epoch == former.epoch && statistics.pictures >= former.statistics.pictures
    }
}

/// What the sources of a track have done so far, one after the other.
public struct SourceTotals: Sendable {
    /// Pictures encoded.
    public var pictures: UInt64 = 0
    /// Key frames among them.
    public var keyFrames: UInt64 = 0
    /// Bytes written to links, headers included.
    public var bytes: UInt64 = 0
    /// How often a picture had to wait because the link had not taken the one before.
    public var heldBack: UInt64 = 0
    /// How long the pictures took.
    public var stages = StageTimes()

    /// No work.
    public init() {}

    /// Adds the work of another track's sources.
    public mutating func add(_ other: SourceTotals) {
        pictures &+= other.pictures
        keyFrames &+= other.keyFrames
        bytes &+= other.bytes
        heldBack &+= other.heldBack
        stages.add(other.stages)
    }

    mutating func addFigures(of report: SourceReport) {
        // Sources report these numbers, and they may report any.
        pictures &+= report.statistics.pictures
        keyFrames &+= report.statistics.idrPictures
        bytes &+= report.statistics.bytes
        heldBack &+= report.statistics.heldBack
    }
}
