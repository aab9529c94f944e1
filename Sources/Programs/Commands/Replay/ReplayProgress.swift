import CommandLine
import Glibc
import MediaTypes

/// A line on standard error that shows a replay's progress. Does nothing if standard error is not a terminal.
struct ReplayProgress {
    private let isShown = isatty(2) == 1
    private var due = MonotonicTime.zero
    private var isOnScreen = false
    private static let period = Interval.milliseconds(500)

    /// Updates the line, at most twice a second.
    mutating func show(_ now: MonotonicTime, at time: Interval, _ pictures: UInt64, _ bytes: UInt64) {
        guard isShown, now >= due else { return }
        due = now + Self.period
        isOnScreen = true
        let tenths = max(0, time.milliseconds) / 100
        writeAll(
            Array(
                "\r\(tenths / 10).\(tenths % 10) s, \(counted(pictures, "picture")), \(bytes / 1000) kB\u{1B}[K".utf8),
            to: 2)
    }

    /// Removes the line before something else is printed.
    mutating func clear() {
        guard isOnScreen else { return }
        isOnScreen = false
        writeAll(Array("\r\u{1B}[K".utf8), to: 2)
    }
}
