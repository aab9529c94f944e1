import CGLib

/// The log, with a limit for the lines that clients cause. It belongs to the site's thread.
final class SiteLog {
    /// The longest line that a client can cause, in characters.
    private static let longestLine = 200

    private let write: @Sendable (String) -> Void
    /// The limit for each address, including loopback, and the number of lines left out since the last report.
    private var lines = RequestRate(perSecond: 5, burst: 50, sparesLoopback: false)
    private var withheldLines = 0

    init(_ write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Logs a line that wasn't caused by a client.
    func callAsFunction(_ line: String) {
        write(line)
    }

    /// Logs a line that a client at `address` has caused, unless the address has caused too many already.
    func callAsFunction(_ line: String, of address: String) {
        guard lines.take(address, now: g_get_monotonic_time()) else { return withheldLines += 1 }
        write(line.count > Self.longestLine ? line.prefix(Self.longestLine - 1) + "…" : line)
    }

    /// Reports lines that were left out.
    func tick() {
        guard withheldLines > 0, lines.take("", now: g_get_monotonic_time()) else { return }
        write("\(withheldLines) more lines like those before were left out")
        withheldLines = 0
    }
}
