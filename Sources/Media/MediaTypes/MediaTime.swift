/// A point on a track's own timeline, in ticks of 90 kHz (the RTP clock of video, RFC 6184 section 8.2.1).
///
/// It has 64 bits, so it never wraps. The RTP timestamp is its low 32 bits plus a random offset for each session. A
/// track's media times never go backwards.
public struct MediaTime: Hashable, Comparable, Sendable {
    /// Ticks per second.
    public static let clockRate: Int64 = 90_000

    /// Ticks since the track's origin.
    public var ticks: Int64

    /// The point `ticks` after the track's origin.
    public init(ticks: Int64) {
        self.ticks = ticks
    }

    /// The number of ticks in `interval`, rounded toward zero; can't overflow for any 64-bit number of nanoseconds.
    public static func ticks(in interval: Interval) -> Int64 {
        // 90 000 / 10^9 = 9 / 10^5; split so that the product can't overflow.
        let (quotient, remainder) = interval.nanoseconds.quotientAndRemainder(dividingBy: 100_000)
        return quotient * 9 + (remainder * 9) / 100_000
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool { left.ticks < right.ticks }

    /// The time `ticks` later.
    public static func + (time: MediaTime, ticks: Int64) -> MediaTime { MediaTime(ticks: time.ticks &+ ticks) }
}
