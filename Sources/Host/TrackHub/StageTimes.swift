import CaptureLink
public import MediaTypes

/// How long the pictures of a connected capture took for each stage of their way to the host.
public struct StageTimes: Sendable {
    /// From when capture noticed the first change in a picture until it began to grab it: until the paint had settled,
    /// and the picture's turn had come. Only pictures that show a change count.
    public var waiting = DelayHistogram()
    /// From the beginning of grabbing until the picture was encoded.
    public var encoding = DelayHistogram()
    /// From then until the whole picture had arrived at the host. Of a capture on another machine, only pictures count
    /// that came after its clock was known.
    public var link = DelayHistogram()

    /// Times of no picture.
    public init() {}

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
    /// How long its pictures had taken by then.
    let stages: StageTimes
    let arrival: MonotonicTime

    /// The statistics, without `recent` once they are 5 s old: a running source sends them each 2.5 s.
    func statistics(now: MonotonicTime) -> CaptureStatistics {
        var current = statistics
        if now - arrival > .seconds(5) { current.recent = nil }
        return current
    }
}
