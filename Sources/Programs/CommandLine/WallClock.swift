import Glibc

/// A point in time by the system's clock.
public struct WallClock: Sendable {
    private let time: timespec

    public static var now: WallClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallClock(time: time)
    }

    private init(time: timespec) {
        self.time = time
    }

    /// The time this many seconds after the start of 1970 (UTC).
    public init(unixTime: Int) {
        time = timespec(tv_sec: unixTime, tv_nsec: 0)
    }

    /// `12:03:04`, in local time.
    public var timeOfDay: String { Self.time(localParts) }

    /// `12:03:04.567`, in local time.
    public var preciseTimeOfDay: String { timeOfDay + "." + milliseconds }

    /// `2026-11-20 12:03:04`, in local time.
    public var dateAndTime: String { "\(Self.date(localParts)) \(timeOfDay)" }

    private var localParts: tm {
        var (seconds, parts) = (time.tv_sec, tm())
        localtime_r(&seconds, &parts)
        return parts
    }

    private static func date(_ parts: tm) -> String {
        [(Int(parts.tm_year) + 1900, 4), (Int(parts.tm_mon) + 1, 2), (Int(parts.tm_mday), 2)]
            .map { digits($0.0, $0.1) }.joined(separator: "-")
    }

    private static func time(_ parts: tm) -> String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
    }

    /// `2026-11-20T12:03:04.567Z` (RFC 3339)
    public var timestamp: String {
        var (seconds, parts) = (time.tv_sec, tm())
        gmtime_r(&seconds, &parts)
        return Self.date(parts) + "T" + Self.time(parts) + "." + milliseconds + "Z"
    }

    private var milliseconds: String { Self.digits(Int(time.tv_nsec / 1_000_000), 3) }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
