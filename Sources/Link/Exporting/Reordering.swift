import MediaTypes

/// The most recent order counts, from which the amount of reordering is found.
struct OrderWindow: Sendable {
    /// The most pictures that a decoder may hold back (max_dec_frame_buffering, ITU-T H.264 section A.3.1).
    static let limit = 16

    private var run: UInt64 = 0
    private var counts: [Int64] = []

    /// Adds a picture, and returns how many pictures before it in decoding order are shown after it.
    mutating func add(_ place: FrameFacts.Place) -> Int {
        if place.run != run { counts.removeAll(keepingCapacity: true) }
        run = place.run
        let later = counts.reduce(0) { $0 + ($1 > place.count ? 1 : 0) }
        if counts.count == Self.limit { counts.removeFirst() }
        counts.append(place.count)
        return later
    }
}

/// Assigns presentation times to pictures in decoding order.
///
/// The times in a recording are those at which pictures were ready, in ascending order: the picture that is shown first
/// gets the first time. As many pictures are held back as precede another one that is shown before them, which is
/// usually none.
struct PresentationTimes: Sendable {
    struct Picture: Sendable {
        let frame: CodedFrame
        let decodingTime: Interval
        let presentationTime: Interval
    }

    private struct Waiting: Sendable {
        let frame: CodedFrame
        let place: FrameFacts.Place
        let decodingTime: Interval
        var presentationTime: Interval?
    }

    private let reordering: Int
    private var waiting: [Waiting] = []
    /// The times that no picture has been assigned yet.
    private var times: [Interval] = []
    /// The last `reordering` times, which are used as decoding times.
    private var earlier: [Interval] = []

    init(reordering: Int) {
        self.reordering = reordering
    }

    /// Takes the next picture in decoding order, and returns the pictures whose times are known.
    mutating func add(_ unit: CodedFrame, _ place: FrameFacts.Place, at time: Interval) -> [Picture] {
        times.append(time)
        waiting.append(
            Waiting(frame: unit, place: place, decodingTime: decodingTime(time), presentationTime: nil))
        if times.count > reordering { show() }
        return takeKnown()
    }

    /// Assigns the remaining times after the last picture.
    mutating func finish() -> [Picture] {
        while !times.isEmpty { show() }
        return takeKnown()
    }

    /// The decoding time: `reordering` pictures earlier, so that no picture is decoded after its presentation time.
    private mutating func decodingTime(_ time: Interval) -> Interval {
        guard reordering > 0 else { return time }
        if earlier.isEmpty {
            for index in 0..<reordering { earlier.append(time - Interval.milliseconds(33) * Int64(reordering - index)) }
        }
        earlier.append(time)
        return earlier.removeFirst()
    }

    /// Assigns the next time to the picture that is shown next.
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
                Picture(frame: first.frame, decodingTime: first.decodingTime, presentationTime: time))
        }
        return known
    }
}
