public import MediaTypes

/// A packet's timestamp in ticks of its format's clock rate, modulo 2^32 (RFC 3550 section 5.1).
public struct RTPTimestamp: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bits as they stand in a header.
    public let rawValue: UInt32

    /// The timestamp `rawValue`.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The timestamp of `time` in a session whose timestamps start at the random `offset`.
    public init(_ time: MediaTime, offset: UInt32) {
        rawValue = UInt32(truncatingIfNeeded: time.ticks) &+ offset
    }

    /// The timestamp `ticks` later.
    public func advanced(by ticks: Int64) -> RTPTimestamp {
        RTPTimestamp(rawValue &+ UInt32(truncatingIfNeeded: ticks))
    }

    /// How many ticks later `other` is, taking the shorter way around the wrap.
    public func distance(to other: RTPTimestamp) -> Int {
        Int(Int32(bitPattern: other.rawValue &- rawValue))
    }

    public var description: String { String(rawValue) }
}

/// A time in NTP format: seconds since 1900 in the upper 32 bits, fraction in the lower 32 (RFC 5905 section 6; RFC
/// 3550 section 4).
///
///      0                   1                   2                   3
///     +---------------------------------------------------------------+
///     |                  seconds since 1900-01-01                     |
///     |               - - - the middle 32 bits - - -                  |
///     |                  fraction of a second                         |
///     +---------------------------------------------------------------+
public struct NTPTime: Hashable, Sendable {
    /// The seconds in the upper 32 bits, the fraction in the lower 32.
    public let rawValue: UInt64

    /// The time with the 64 bits `rawValue`.
    public init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The low half of the seconds and the high half of the fraction, in units of 1/65536 s, as LSR and DLSR use them.
    public var middle32: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }
}

/// Converts this machine's monotonic clock to NTP time with an offset that is fixed when the host starts, so that a
/// step of the wall clock does not look like a jump in the media.
public struct NTPClock: Hashable, Sendable {
    /// The seconds between NTP's epoch (1900) and the Unix epoch (1970).
    private static let secondsTo1970: UInt64 = 2_208_988_800

    /// The offset that turns monotonic time into nanoseconds since 1970.
    public let unixOffset: Interval

    /// A clock that adds `unixOffset` to monotonic time to get the time since 1970.
    public init(unixOffset: Interval) {
        self.unixOffset = unixOffset
    }

    /// `time` as NTP time; the wall clock's date must lie between 1970 and 2262.
    public func time(at time: MonotonicTime) -> NTPTime {
        let unix = UInt64(clamping: (time + unixOffset).nanoseconds)
        let (seconds, nanoseconds) = unix.quotientAndRemainder(dividingBy: 1_000_000_000)
        // The remainder is below 2^30, so the shift can't overflow.
        let fraction = (nanoseconds << 32) / 1_000_000_000
        return NTPTime((seconds &+ Self.secondsTo1970) << 32 | fraction)
    }
}
