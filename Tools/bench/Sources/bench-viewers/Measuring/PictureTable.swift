import MediaTypes

/// The pictures that any viewer has seen, on one timeline, although each session has timestamps of its own.
final class PictureTable {
    /// A picture, and when viewers got it.
    struct Picture {
        let tick: UInt32
        /// Whether it was first seen while pictures counted.
        let isCounted: Bool
        /// The number of viewers that got all of it.
        var whole = 0
        /// When the first of them had all of it, and the last.
        var first = MonotonicTime.distantFuture
        var last = MonotonicTime.zero
    }

    /// Two sessions' times of a picture may differ by this, since the clocks of sender reports do: 3 ms.
    private static let tolerance = 270
    /// How many of the newest pictures are looked through for such a time.
    private static let searched = 64

    /// Whether pictures that are seen from now on count.
    var isCounting = false
    private(set) var pictures: [Picture] = []
    private var places: [UInt32: Int] = [:]
    /// The places by the timestamps of the sessions that saw them first.
    private var timestamps: [UInt32: Int] = [:]
    /// The place that was found last: viewers get a picture at about the same time.
    private var latest: (tick: UInt32, place: Int)?

    /// The place of the picture at `tick`, a new one if it is unknown. The picture's own tick may differ a little: all
    /// sessions use that one from then on.
    ///
    /// - Parameter timestamp: the session's own time of the picture. Some servers use one time in all sessions, but
    ///   send sender reports that differ by milliseconds.
    func place(of tick: UInt32, timestamp: UInt32) -> Int {
        if let latest, latest.tick == tick { return latest.place }
        if let place = places[tick] {
            latest = (tick, place)
            return place
        }
        let newest = pictures.indices.suffix(Self.searched)
        func distance(_ place: Int) -> Int { abs(Int(Int32(bitPattern: pictures[place].tick &- tick))) }
        if let nearest = newest.min(by: { distance($0) < distance($1) }), distance(nearest) <= Self.tolerance {
            return nearest
        }
        if let place = timestamps[timestamp] { return place }
        let place = pictures.count
        pictures.append(Picture(tick: tick, isCounted: isCounting))
        places[tick] = place
        timestamps[timestamp] = place
        latest = (tick, place)
        return place
    }

    /// Notes that a viewer got all of a picture. Returns whether it counts.
    func noteWhole(_ place: Int, at arrival: MonotonicTime) -> Bool {
        pictures[place].whole += 1
        pictures[place].first = min(pictures[place].first, arrival)
        pictures[place].last = max(pictures[place].last, arrival)
        return pictures[place].isCounted
    }
}
