import MediaTypes
import Rooms

/// A viewer's request about the dot with which it points: `__point`.
enum PointRequest: Equatable {
    /// It points at this place of a track's picture, in fractions of the width and the height, each from 0 to 1. Without
    /// a name, the first track is meant.
    case show(x: Double, y: Double, TrackName?)
    /// It no longer points.
    case stop

    private static let beginning = "{\"eventName\":\"__point\","
    /// The longest message of the page has some 170 bytes.
    private static let byteLimit = 256

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

/// The dots with which the members of one room point, and which of them each viewer has been sent.
///
/// Of each member only the latest message is kept, and only until pages no longer show it. So the memory is bounded by
/// the number of members, however much they send and however slowly others read.
///
/// Pure; the time is an argument.
struct PointedDots {
    /// How long a page shows a dot without news of it.
    static let fadeTime = Interval.seconds(1)

    private struct Dot {
        /// The latest message, encoded as a WebSocket frame.
        let frame: [UInt8]
        let isShown: Bool
        /// Greater than the numbers of all earlier messages.
        let number: UInt64
        let time: MonotonicTime
    }

    private var dots: [MemberID: Dot] = [:]
    /// The number of the latest message that each viewer has been sent, or that was its own.
    private var told: [MemberID: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// Whether no page shows any of the dots any more.
    var isEmpty: Bool { dots.isEmpty }

    /// Whether pages show a dot of `member`.
    func isShown(_ member: MemberID) -> Bool { dots[member]?.isShown ?? false }

    /// Keeps `frame` as the member's latest message: its dot or, with `isShown` false, the end of it.
    mutating func set(_ frame: [UInt8], isShown: Bool, of member: MemberID, at now: MonotonicTime) {
        lastNumber += 1
        dots[member] = Dot(frame: frame, isShown: isShown, number: lastNumber, time: now)
    }

    /// Forgets the dots that pages no longer show.
    mutating func removeFaded(at now: MonotonicTime) {
        dots = dots.filter { now - $0.value.time < Self.fadeTime }
    }

    /// Forgets what `viewer` has been sent, because it has left.
    mutating func forget(_ viewer: MemberID) { told[viewer] = nil }

    /// Whether there are messages for `viewer` that it hasn't been sent.
    func hasNews(for viewer: MemberID) -> Bool {
        let last = told[viewer] ?? 0
        return last < lastNumber && dots.contains { $0.value.number > last && $0.key != viewer }
    }

    /// The messages for `viewer` that it hasn't been sent, in order. They count as sent from now on.
    mutating func takeNews(for viewer: MemberID) -> [[UInt8]] {
        let last = told[viewer] ?? 0
        told[viewer] = lastNumber
        return dots.filter { $0.value.number > last && $0.key != viewer }.map(\.value)
            .sorted { $0.number < $1.number }.map(\.frame)
    }
}
