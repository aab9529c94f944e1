/// A point on a track's own timeline, in ticks of the clock rate of the track's format.
///
/// It has 64 bits, so it never wraps. The RTP timestamp is its low 32 bits plus a random offset for each session. A
/// track's media times never go backwards.
public struct MediaTime: Hashable, Comparable, Sendable {
    /// Ticks since the track's origin.
    public var ticks: Int64

    /// The point `ticks` after the track's origin.
    public init(ticks: Int64) {
        self.ticks = ticks
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool { left.ticks < right.ticks }

    /// The time `ticks` later.
    public static func + (time: MediaTime, ticks: Int64) -> MediaTime { MediaTime(ticks: time.ticks &+ ticks) }
}

/// How many ticks of a track's clock make a second.
public struct ClockRate: Hashable, Sendable {
    /// Ticks per second.
    public let hertz: UInt32

    /// A clock with `hertz` ticks per second.
    public init(hertz: UInt32) {
        self.hertz = hertz
    }

    /// 90 kHz, the RTP clock of all video codecs (RFC 6184 section 8.2.1).
    public static let video = ClockRate(hertz: 90_000)

    /// 48 kHz, the RTP clock of Opus, whatever its content is sampled at (RFC 7587 section 4.1).
    public static let audio = ClockRate(hertz: 48_000)

    /// The number of ticks in `interval`, rounded toward zero; can't overflow for any 64-bit number of nanoseconds.
    public func ticks(in interval: Interval) -> Int64 {
        let (seconds, rest) = interval.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * Int64(hertz) + rest * Int64(hertz) / 1_000_000_000
    }

    /// How long `ticks` take, rounded toward zero.
    public func interval(of ticks: Int64) -> Interval {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(hertz))
        return Interval(nanoseconds: seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(hertz))
    }
}
