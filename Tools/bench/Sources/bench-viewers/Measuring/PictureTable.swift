import MediaTypes

/// The pictures that any viewer has seen, on one timeline, although each session has timestamps of its own.
final class PictureTable {
    /// A picture, and when viewers got it.
    struct Picture {
        let tick: UInt32
        /// Whether it was first seen while pictures counted, in the current measurement.
        fileprivate(set) var isCounted: Bool
        /// The number of viewers that got all of it.
        var whole = 0
        /// When the first of them had all of it, and the last.
        var first = MonotonicTime.distantFuture
        var last = MonotonicTime.zero
    }

    /// Whether pictures that are seen from now on count.
    var isCounting = false
    private(set) var pictures: [Picture] = []
    private var places: [UInt32: Int] = [:]
    /// The place that was found last: viewers get a picture at about the same time.
    private var latest: (tick: UInt32, place: Int)?

    /// The viewer whose timestamps are everybody's timeline: the first one with a whole picture.
    private var reference: ObjectIdentifier?
    /// Its last whole pictures, the newest last.
    private var recent: [ReceivedStream.Picture] = []

    /// Begins a measurement, for which only pictures count that are seen from now on.
    func startCounting() {
        for place in pictures.indices { pictures[place].isCounted = false }
        isCounting = true
    }

    /// Notes a whole picture of `viewer`. Returns whether its timestamps are the timeline.
    func noteReference(_ picture: ReceivedStream.Picture, of viewer: ObjectIdentifier) -> Bool {
        if reference == nil { reference = viewer }
        guard reference == viewer else { return false }
        if recent.count == 64 { recent.removeFirst() }
        recent.append(picture)
        return true
    }

    /// The tick at which the reference viewer got a whole picture at about the same time; nil if it got none.
    func tick(near arrival: MonotonicTime) -> UInt32? {
        func distance(_ picture: ReceivedStream.Picture) -> Int64 { abs((picture.arrival - arrival).nanoseconds) }
        guard let nearest = recent.min(by: { distance($0) < distance($1) }), distance(nearest) < 100_000_000 else {
            return nil
        }
        return nearest.timestamp
    }

    /// The place of the picture at `tick`, a new one if it is unknown.
    func place(of tick: UInt32) -> Int {
        if let latest, latest.tick == tick { return latest.place }
        let place = places[tick] ?? pictures.count
        if place == pictures.count {
            pictures.append(Picture(tick: tick, isCounted: isCounting))
            places[tick] = place
        }
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
