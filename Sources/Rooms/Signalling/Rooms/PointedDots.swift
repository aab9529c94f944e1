import MediaTypes
import Rooms

/// A viewer's request about the dot with which it points, and the lines that it draws: `__point`.
enum PointRequest: Equatable {
    /// It points at this place of a track's picture, and has drawn `path` there since its last message. Without a name,
    /// the first track is meant.
    case show(PicturePlace, path: [PicturePlace?], TrackName?)
    /// It no longer points.
    case stop

    private static let beginning = "{\"eventName\":\"__point\","
    /// The longest message of the page has ``PenPath/longest`` steps of at most 16 bytes, and some 170 others.
    private static let byteLimit = 512

    /// Whether `text` begins exactly as the page's messages of this kind do, and isn't longer than those. Surplus ones
    /// are dropped without decoding.
    static func begins(_ text: String) -> Bool {
        text.utf8.count <= byteLimit && text.utf8.starts(with: beginning.utf8)
    }
}

/// A limit of the messages of one client: an average rate, and a burst after a quiet time.
///
/// Pure; the time is an argument.
struct MessageAllowance {
    private let price: Interval
    private let burst: Interval
    /// The time up to which the messages are paid for; nil before the first one.
    private var paid: MonotonicTime?

    /// `burst` is the time for which an unused rate is kept.
    init(perSecond: Int, burst: Interval) {
        price = .seconds(1) / Int64(max(1, perSecond))
        self.burst = burst
    }

    /// Returns whether another message is within the limit at `now`, and counts it if so.
    mutating func take(at now: MonotonicTime) -> Bool {
        let oldest = now - burst
        let next = max(paid ?? oldest, oldest) + price
        guard next <= now else { return false }
        paid = next
        return true
    }
}

/// Where a member points.
struct PointedPlace: Equatable {
    let member: MemberID
    let name: String?
    /// The track's name, if messages name it.
    let track: TrackName?
    /// nil once it no longer points.
    var place: PicturePlace?
}

/// The dots with which the members of one room point, the lines that they draw, and which of that each viewer has been
/// sent.
///
/// Of each member only the latest place is kept, and only until pages no longer show it; and of its lines at most
/// ``longestPath`` steps of the last second, all of one track. So the memory is bounded by the number of members who
/// have just pointed, however much they send and however slowly others read.
///
/// Pure; the time is an argument.
struct PointedDots {
    /// How long a page shows a dot without news of it, and how long a viewer that hasn't read is owed a line.
    static let fadeTime = Interval.seconds(1)
    /// The maximum number of steps that are kept of a member's lines. A page sends about 100 per second.
    static let longestPath = 128

    /// A step of a line, as in ``PenPath``.
    private struct Step {
        let place: PicturePlace?
        /// The number of its message.
        let number: UInt64
        let time: MonotonicTime
    }

    private struct Dot {
        let latest: PointedPlace
        /// The number of the latest message, greater than those of all earlier ones.
        let number: UInt64
        let time: MonotonicTime
        var steps: [Step] = []
        /// The number of the latest message of which steps have been dropped.
        var dropped: UInt64 = 0
        /// The message as WebSocket frames, by the number of steps in it: viewers that lack the same share one.
        var frames: [Int: [UInt8]] = [:]

        /// Drops the oldest steps.
        mutating func drop(_ count: Int) {
            guard count > 0 else { return }
            dropped = steps[count - 1].number
            steps.removeFirst(count)
            frames = [:]
        }
    }

    private let encode: (PointedPlace, [PicturePlace?]) -> [UInt8]
    private var dots: [MemberID: Dot] = [:]
    /// The number of the latest message that each viewer has been sent, or that was its own.
    private var told: [MemberID: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// `encode` makes a WebSocket frame of where a member points and what it has drawn.
    init(
        encode: @escaping (PointedPlace, [PicturePlace?]) -> [UInt8] = { place, path in
            WebSocketFrame.text(SkyRTCReply(place, path: path).text)
        }
    ) {
        self.encode = encode
    }

    /// Whether no page shows any of the dots any more.
    var isEmpty: Bool { dots.isEmpty }

    /// Where pages show a dot of `member`; nil if they show none.
    func shown(_ member: MemberID) -> PointedPlace? {
        guard let latest = dots[member]?.latest, latest.place != nil else { return nil }
        return latest
    }

    /// Keeps `latest` as the member's latest place, and `path` as what it has drawn since the one before.
    mutating func set(_ latest: PointedPlace, path: [PicturePlace?] = [], at now: MonotonicTime) {
        lastNumber += 1
        var dot = Dot(latest: latest, number: lastNumber, time: now)
        if let before = dots[latest.member] {
            (dot.steps, dot.dropped) = (before.steps, before.dropped)
            // A message is about one track.
            if before.latest.track != latest.track { dot.drop(dot.steps.count) }
        }
        dot.steps += path.map { Step(place: $0, number: lastNumber, time: now) }
        dot.drop(dot.steps.count - Self.longestPath)
        dots[latest.member] = dot
    }

    /// Ends the member's dot, if there is one. Its lines fade.
    mutating func end(_ member: MemberID, at now: MonotonicTime) {
        guard var latest = dots[member]?.latest else { return }
        latest.place = nil
        set(latest, at: now)
    }

    /// Forgets the dots that pages no longer show, and the steps that viewers are no longer owed.
    mutating func removeFaded(at now: MonotonicTime) {
        dots = dots.compactMapValues { dot in
            guard now - dot.time < Self.fadeTime else { return nil }
            var dot = dot
            dot.drop(dot.steps.prefix { now - $0.time >= Self.fadeTime }.count)
            return dot
        }
    }

    /// Forgets what a viewer has been sent, because it has left the room.
    mutating func forget(_ viewer: MemberID) {
        told[viewer] = nil
    }

    /// Whether there are messages for `viewer` that it hasn't been sent.
    func hasNews(for viewer: MemberID) -> Bool {
        let last = told[viewer] ?? 0
        return last < lastNumber && dots.contains { $0.value.number > last && $0.key != viewer }
    }

    /// The messages for `viewer` that it hasn't been sent, in order, at most one about each member. They count as sent
    /// from now on.
    mutating func takeNews(for viewer: MemberID) -> [[UInt8]] {
        let last = told[viewer] ?? 0
        told[viewer] = lastNumber
        return dots.filter { $0.value.number > last && $0.key != viewer }
            .sorted { $0.value.number < $1.value.number }
            .map { frame(of: $0.key, $0.value, after: last) }
    }

    /// The latest message about a member, with the steps of all its messages after number `last`.
    private mutating func frame(of member: MemberID, _ dot: Dot, after last: UInt64) -> [UInt8] {
        var path = dot.steps.drop { $0.number <= last }.map(\.place)
        // What follows dropped steps doesn't continue the line that the viewer has.
        if last < dot.dropped, path.isEmpty || path[0] != nil { path.insert(nil, at: 0) }
        if let known = dots[member]?.frames[path.count] { return known }
        let frame = encode(dot.latest, path)
        dots[member]?.frames[path.count] = frame
        return frame
    }
}
