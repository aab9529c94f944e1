import H264
import MediaTypes

/// The last order counts, to see how far decoding runs ahead of showing.
struct OrderWindow: Sendable {
    /// No decoder keeps more pictures waiting (max_dec_frame_buffering, ITU-T H.264 section A.3.1).
    static let limit = 16

    private var run: UInt64 = 0
    private var counts: [Int64] = []

    /// How many of the pictures in front are shown after this one.
    mutating func add(_ place: PictureOrder.Place) -> Int {
        if place.run != run { counts.removeAll(keepingCapacity: true) }
        run = place.run
        let later = counts.reduce(0) { $0 + ($1 > place.count ? 1 : 0) }
        if counts.count == Self.limit { counts.removeFirst() }
        counts.append(place.count)
        return later
    }
}

/// Gives pictures that come in the order of decoding the times at which they are shown.
///
/// The times of the recording are those at which pictures were ready, one after the other: the picture that is shown
/// first gets the first of them. Holds as many pictures back as stand in front of one that is shown before them; mostly
/// none.
struct PresentationTimes: Sendable {
    struct Picture: Sendable {
        let accessUnit: AccessUnit
        let decodingTime: Interval
        let presentationTime: Interval
    }

    private struct Waiting: Sendable {
        let accessUnit: AccessUnit
        let place: PictureOrder.Place
        let decodingTime: Interval
        var presentationTime: Interval?
    }

    private let reordering: Int
    private var waiting: [Waiting] = []
    /// Times that no picture has been given yet.
    private var times: [Interval] = []
    /// The last times of decoding, `reordering` of them.
    private var earlier: [Interval] = []

    init(reordering: Int) {
        self.reordering = reordering
    }

    /// Takes the next picture in the order of decoding, and gives those whose times are known.
    mutating func add(_ unit: AccessUnit, _ place: PictureOrder.Place, at time: Interval) -> [Picture] {
        times.append(time)
        waiting.append(
            Waiting(accessUnit: unit, place: place, decodingTime: decodingTime(time), presentationTime: nil))
        if times.count > reordering { show() }
        return takeKnown()
    }

    /// The last picture was added.
    mutating func finish() -> [Picture] {
        while !times.isEmpty { show() }
        return takeKnown()
    }

    /// So much earlier than shown that no picture is decoded too late.
    private mutating func decodingTime(_ time: Interval) -> Interval {
        guard reordering > 0 else { return time }
        if earlier.isEmpty {
            for index in 0..<reordering { earlier.append(time - Interval.milliseconds(33) * Int64(reordering - index)) }
        }
        earlier.append(time)
        return earlier.removeFirst()
    }

    /// The picture that is next to be shown gets the next time.
    private mutating func show() {
        let candidates = waiting.indices.filter { waiting[$0].presentationTime == nil }
        let next = candidates.min { left, right in
            let (one, other) = (waiting[left].place, waiting[right].place)
            return one.run != other.run ? one.run < other.run : one.count < other.count
        }
        guard let next, !times.isEmpty else { return times.removeAll() }
        waiting[next].presentationTime = times.removeFirst()
    }

    private mutating func takeKnown() -> [Picture] {
        var known: [Picture] = []
        while let first = waiting.first, let time = first.presentationTime {
            waiting.removeFirst()
            known.append(
                Picture(accessUnit: first.accessUnit, decodingTime: first.decodingTime, presentationTime: time))
        }
        return known
    }
}
