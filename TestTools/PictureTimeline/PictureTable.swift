public import MediaTypes

/// The pictures that any viewer has seen, on one timeline, although each session has timestamps of its own.
///
/// Belongs to one thread.
public final class PictureTable {
    /// A picture, and when viewers got it.
    public struct Picture {
        /// Its place on the timeline, in units of 1/90,000 s, or of the caller's choice; modulo 2^32.
        public let tick: UInt32
        /// Whether it was first seen while pictures counted, in the current measurement.
        public fileprivate(set) var isCounted: Bool
        /// The number of viewers that got all of it.
        public fileprivate(set) var whole = 0
        /// When the first of them had all of it.
        public fileprivate(set) var first = MonotonicTime.distantFuture
        /// When the last of them had all of it.
        public fileprivate(set) var last = MonotonicTime.zero
    }

    /// Among so many of the newest pictures, those of a further viewer are searched.
    private static let recentCount = 64
    /// How much earlier or later than the first of all viewers a further one can have a picture.
    private static let maxLag = Interval.seconds(1)

    /// Whether pictures that are seen from now on count.
    public var isCounting = false
    /// All pictures so far, in the order in which they were first seen.
    public private(set) var pictures: [Picture] = []
    private var places: [UInt32: Int] = [:]
    /// The place that was found last: viewers get a picture at about the same time.
    private var latest: (tick: UInt32, place: Int)?
    private var hasOrigin = false

    /// A table without pictures, which doesn't count.
    public init() {}

    /// Begins a measurement, for which only pictures count that are seen from now on.
    public func startCounting() {
        for place in pictures.indices { pictures[place].isCounted = false }
        isCounting = true
    }

    /// The place of the picture at `tick`, a new one if it is unknown.
    public func place(of tick: UInt32) -> Int {
        if let known = knownPlace(of: tick) { return known }
        let place = pictures.count
        pictures.append(Picture(tick: tick, isCounted: isCounting))
        places[tick] = place
        latest = (tick, place)
        return place
    }

    /// The place of the picture at `tick`; nil if no viewer has seen it.
    func knownPlace(of tick: UInt32) -> Int? {
        if let latest, latest.tick == tick { return latest.place }
        guard let place = places[tick] else { return nil }
        latest = (tick, place)
        return place
    }

    /// Notes that a viewer got all of a picture. Returns whether it counts.
    public func noteWhole(_ place: Int, at arrival: MonotonicTime) -> Bool {
        pictures[place].whole += 1
        pictures[place].first = min(pictures[place].first, arrival)
        pictures[place].last = max(pictures[place].last, arrival)
        return pictures[place].isCounted
    }

    // MARK: Viewers that are new

    /// Returns true once: to the viewer whose timestamps are everybody's timeline.
    func takeOrigin() -> Bool {
        defer { hasOrigin = true }
        return !hasOrigin
    }

    /// What can be added to the timestamps of a viewer's pictures so that each is at the tick of a picture that others
    /// had at about that time. The nearest by the times of arrival is first.
    func offsets(fitting run: ArraySlice<ViewerTimeline.Whole>) -> [UInt32] {
        guard let newest = run.last else { return [] }
        var found: [(offset: UInt32, lag: Int64)] = []
        for picture in pictures.suffix(Self.recentCount) {
            let offset = picture.tick &- newest.timestamp
            if let lag = totalLag(of: run, movedBy: offset) { found.append((offset, lag)) }
        }
        return found.sorted { $0.lag < $1.lag }.map(\.offset)
    }

    /// The nanoseconds between the arrivals of these pictures and those of the ones in the table, in all; nil if one of
    /// them isn't there.
    private func totalLag(of run: ArraySlice<ViewerTimeline.Whole>, movedBy offset: UInt32) -> Int64? {
        var sum: Int64 = 0
        for picture in run {
            guard let place = places[picture.timestamp &+ offset], pictures[place].whole > 0 else { return nil }
            let lag = abs((picture.arrival - pictures[place].first).nanoseconds)
            guard lag <= Self.maxLag.nanoseconds else { return nil }
            sum += lag
        }
        return sum
    }
}
