public import Clocks
public import MediaTypes
import Synchronization

/// Limits the lines that peers can cause in a log, so that nobody can fill the disk or bury the lines of others.
///
/// A line is cut at 200 characters. Each address may cause 5 lines a second, and 50 at once. All addresses together may
/// cause ten times as many, because an attacker may have any number of addresses. Lines beyond that are counted and
/// reported in one line. The memory doesn't grow with the number of addresses. May be used from any thread.
public final class LineBudget: Sendable {
    /// The longest line that a peer can cause. Unicode scalars are counted, since one `Character` may have any number of
    /// them.
    private static let longestLine = 200
    private static let reportPeriod = Interval.seconds(5)

    /// The log for lines that no peer causes. They are neither cut nor limited.
    public let own: EventLog
    private let state = Mutex(State())

    private struct State {
        var lines = AddressRate(perSecond: 5, burst: 50)
        var allLines = AddressRate(perSecond: 50, burst: 500)
        var withheld = 0
        /// When to report the lines that were left out.
        var reportDue = MonotonicTime.zero

        mutating func take(_ address: String, now: MonotonicTime) -> Bool {
            if lines.take(address, now: now), allLines.take("", now: now) { return true }
            if withheld == 0 { reportDue = now + LineBudget.reportPeriod }
            withheld += 1
            return false
        }

        /// Returns the number of lines to report as left out now, and begins to count anew if there are any.
        mutating func takeReport(now: MonotonicTime) -> Int {
            guard reportDue <= now else { return 0 }
            defer { withheld = 0 }
            return withheld
        }
    }

    /// A budget for the lines that peers cause in `log`.
    public init(_ log: EventLog) {
        own = log
    }

    /// A log for the lines that a peer causes.
    ///
    /// - Parameter address: the peer's address, without its port. All peers whose address isn't known share the empty one.
    public func callAsFunction(of address: String) -> EventLog {
        EventLog { [self] level, line in write(line, level, of: address, now: .now()) }
    }

    func write(_ line: String, _ level: EventLog.Level, of address: String, now: MonotonicTime) {
        // Usually nobody reads the details for developers, so they don't use up what others may cause.
        guard level == .debug || state.withLock({ $0.take(address, now: now) }) else { return reportWithheld(now: now) }
        reportWithheld(now: now)
        let scalars = line.unicodeScalars
        let isLong = scalars.dropFirst(Self.longestLine).first != nil
        own.write(level, isLong ? String(scalars.prefix(Self.longestLine - 1)) + "…" : line)
    }

    /// Reports lines that were left out, at most once in 5 s. Every line that a peer causes does this too, so it need
    /// not be called regularly; but then the report waits for the next line.
    public func reportWithheld(now: MonotonicTime = .now()) {
        let count = state.withLock { $0.takeReport(now: now) }
        if count > 0 { own.warning("\(count) more lines like those before were left out") }
    }
}
