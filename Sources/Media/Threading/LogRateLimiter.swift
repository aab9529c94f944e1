public import Clocks
public import MediaTypes
import Synchronization

/// Limits the lines that peers can cause in a log, so that nobody can fill the disk or bury the lines of others.
///
/// A line is cut at 200 characters. Each address may cause 5 lines per second, and 50 at once. All addresses together
/// may cause ten times as many, since an attacker may have any number of addresses. Lines beyond these limits are
/// counted, and reported in one line. The memory doesn't grow with the number of addresses. May be used from any
/// thread.
public final class LogRateLimiter: Sendable {
    /// The longest line that a peer can cause, in Unicode scalars; a `Character` may have any number of them.
    private static let maxLine = 200
    private static let reportPeriod = Interval.seconds(5)

    /// The log for lines that no peer causes. They are neither cut nor limited.
    public let own: EventLog
    private let state = Mutex(State())
    /// Whether there are lines to report. Set with `state` locked; read without, because threads ask at each wake-up.
    private let hasWithheld = Flag()

    private struct State {
        var lines = AddressRateLimiter(perSecond: 5, burst: 50)
        var allLines = AddressRateLimiter(perSecond: 50, burst: 500)
        var withheld = 0
        /// When to report the lines that were left out.
        var reportDue = MonotonicTime.zero

        mutating func take(_ address: String, now: MonotonicTime) -> Bool {
            if lines.take(address, now: now), allLines.take("", now: now) { return true }
            if withheld == 0 { reportDue = now + LogRateLimiter.reportPeriod }
            withheld += 1
            return false
        }

        /// Returns how many lines have been left out, and starts to count again from 0. Returns 0 if no report is due.
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
    /// - Parameter address: the peer's address, without its port; empty for all peers whose address isn't known.
    public func callAsFunction(of address: String) -> EventLog {
        EventLog { [self] level, line in write(line, level, of: address, now: .now()) }
    }

    func write(_ line: String, _ level: EventLog.Level, of address: String, now: MonotonicTime) {
        // Debug lines, which are usually not written, don't count.
        let isWithheld = level != .debug && !change { $0.take(address, now: now) }
        reportWithheld(now: now)
        if isWithheld { return }
        let scalars = line.unicodeScalars
        let isLong = scalars.dropFirst(Self.maxLine).first != nil
        own.write(level, isLong ? String(scalars.prefix(Self.maxLine - 1)) + "…" : line)
    }

    /// Reports lines that were left out, at most once in 5 s. Every line that a peer causes calls this as well, so it
    /// only has to be called if the report must not wait for the next line.
    public func reportWithheld(now: MonotonicTime = .now()) {
        let count = hasWithheld.isSet ? change { $0.takeReport(now: now) } : 0
        if count > 0 { own.warning("\(count) more lines like those before were left out") }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { hasWithheld.set(state.withheld > 0) }
            return body(&state)
        }
    }
}
