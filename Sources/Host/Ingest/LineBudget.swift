import MediaTypes
import Threading

/// Limits how many lines a second strangers can cause in the log. The rest are counted and reported in one line.
///
/// Belongs to one thread.
final class LineBudget {
    /// More than a person can read, and far too few to fill a disk.
    private static let linesPerSecond = 50

    private let log: EventLog
    private var second = MonotonicTime.zero
    private var lines = 0
    private var withheld = 0

    init(_ log: EventLog) {
        self.log = log
    }

    func warning(_ line: String, now: MonotonicTime) { if passes(now) { log.warning(line) } }
    func error(_ line: String, now: MonotonicTime) { if passes(now) { log.error(line) } }

    private func passes(_ now: MonotonicTime) -> Bool {
        if now - second >= .seconds(1) {
            if withheld > 0 { log.warning("link: \(withheld) more lines like those before") }
            second = now
            lines = 0
            withheld = 0
        }
        lines += 1
        if lines > Self.linesPerSecond { withheld += 1 }
        return lines <= Self.linesPerSecond
    }
}
