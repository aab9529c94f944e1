public import MediaTypes

/// A packet's time in ticks of 90 kHz, modulo 2^32 (RFC 3550 section 5.1; RFC 6184 section 5.1).
public struct RTPTimestamp: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bits as they stand in a header.
    public let rawValue: UInt32

    /// The time stamp `rawValue`.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// `time` in a session whose time stamps begin at the random `offset`.
    public init(_ time: MediaTime, offset: UInt32) {
        rawValue = UInt32(truncatingIfNeeded: time.ticks) &+ offset
    }

    /// The time stamp `ticks` later.
    public func advanced(by ticks: Int64) -> RTPTimestamp {
        RTPTimestamp(rawValue &+ UInt32(truncatingIfNeeded: ticks))
    }

    /// How many ticks later `other` is, by the shorter way round.
    public func distance(to other: RTPTimestamp) -> Int {
        Int(Int32(bitPattern: other.rawValue &- rawValue))
    }

    public var description: String { String(rawValue) }
}

/// A time in NTP's format: seconds since 1900 above 32 bits of fraction (RFC 5905 section 6; RFC 3550 section 4).
///
///      0                   1                   2                   3
///     +---------------------------------------------------------------+
///     |                  seconds since 1900-01-01                     |
///     |               - - - the middle 32 bits - - -                  |
///     |                  fraction of a second                         |
///     +---------------------------------------------------------------+
public struct NTPTime: Hashable, Sendable {
    /// Seconds in the upper, fraction in the lower 32 bits.
    public let rawValue: UInt64

    /// The time whose 64 bits are `rawValue`.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The low half of the seconds and the high half of the fraction: what LSR and DLSR count in, 1/65536 s.
    public var middle32: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }
}

/// Turns this machine's monotonic clock into NTP time by an offset that is fixed when the host starts: a step of the
/// wall clock must not look like a jump of the media.
public struct NTPClock: Hashable, Sendable {
    /// Seconds from NTP's origin (1900) to that of Unix time (1970).
    private static let secondsTo1970: UInt64 = 2_208_988_800

    /// What added to monotonic nanoseconds gives nanoseconds since 1970.
    public let unixOffset: Interval

    /// A clock by which monotonic time `unixOffset` before zero was the start of 1970.
    public init(unixOffset: Interval) {
        self.unixOffset = unixOffset
    }

    /// `time` as NTP time; the wall clock's date must lie between 1970 and 2262.
    public func time(at time: MonotonicTime) -> NTPTime {
        let unix = UInt64(clamping: (time + unixOffset).nanoseconds)
        let (seconds, nanoseconds) = unix.quotientAndRemainder(dividingBy: 1_000_000_000)
        // The remainder is below 2^30, so the shift leaves room.
        let fraction = (nanoseconds << 32) / 1_000_000_000
        return NTPTime((seconds &+ Self.secondsTo1970) << 32 | fraction)
    }
}
