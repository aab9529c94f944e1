import MediaTypes
import Threading

/// Lets so many lines a second through that whoever may connect can cause; the rest is counted, and told in one line.
///
/// Belongs to one thread.
final class LineBudget {
    /// More than a person reads, and far less than fills a disk.
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
