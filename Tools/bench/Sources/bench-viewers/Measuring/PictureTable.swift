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

    /// Sender reports round to ticks, so that two sessions' times of a picture may differ by this.
    private static let tolerance: UInt32 = 4

    /// Whether pictures that are seen from now on count.
    var isCounting = false
    private(set) var pictures: [Picture] = []
    private var places: [UInt32: Int] = [:]
    /// The place that was found last: viewers get a picture at about the same time.
    private var latest: (tick: UInt32, place: Int)?

    /// The place of the picture at `tick`, a new one if it is unknown, and what to add to this session's times so that
    /// they agree with the others'.
    func place(of tick: UInt32) -> (place: Int, correction: UInt32) {
        if let latest, latest.tick == tick { return (latest.place, 0) }
        if let place = places[tick] {
            latest = (tick, place)
            return (place, 0)
        }
        for distance in 1...Self.tolerance {
            for near in [tick &+ distance, tick &- distance] {
                if let place = places[near] { return (place, near &- tick) }
            }
        }
        let place = pictures.count
        pictures.append(Picture(tick: tick, isCounted: isCounting))
        places[tick] = place
        latest = (tick, place)
        return (place, 0)
    }

    /// Notes that a viewer got all of a picture. Returns whether it counts.
    func noteWhole(_ place: Int, at arrival: MonotonicTime) -> Bool {
        pictures[place].whole += 1
        pictures[place].first = min(pictures[place].first, arrival)
        pictures[place].last = max(pictures[place].last, arrival)
        return pictures[place].isCounted
    }
}
