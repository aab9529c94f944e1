// Structures of the C library count as one of these two modules', whichever the compiler loads first.
import CLinux
import Glibc

/// A point in time by the system's clock.
public struct WallClock: Sendable {
    private let time: timespec

    /// The current time of the system's clock.
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
    public var timeOfDay: String { text("%H:%M:%S", localtime_r) }

    /// `12:03:04.567`, in local time.
    public var preciseTimeOfDay: String { timeOfDay + "." + milliseconds }

    /// `2026-11-20 12:03:04`, in local time.
    public var dateAndTime: String { text("%Y-%m-%d %H:%M:%S", localtime_r) }

    /// `2026-11-20 12:03:04 UTC`
    public var universalDateAndTime: String { text("%Y-%m-%d %H:%M:%S UTC", gmtime_r) }

    /// `2026-11-20T12:03:04.567Z` (RFC 3339)
    public var timestamp: String { text("%Y-%m-%dT%H:%M:%S.", gmtime_r) + milliseconds + "Z" }

    /// Three digits. Adding 1000 gives the number its leading zeros.
    private var milliseconds: String { String("\(1000 + time.tv_nsec / 1_000_000)".dropFirst()) }

    /// The time in a format of strftime(3). `convert` is `localtime_r` or `gmtime_r`.
    private func text(
        _ format: String, _ convert: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> String {
        var (seconds, parts) = (time.tv_sec, tm())
        _ = convert(&seconds, &parts)
        return String(unsafeUninitializedCapacity: 64) { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                strftime($0, buffer.count, format, &parts)
            }
        }
    }
}
