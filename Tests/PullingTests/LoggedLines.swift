import Synchronization
import Threading

/// Lines that were logged.
final class LoggedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var log: EventLog { EventLog { [self] _, line in lines.withLock { $0.append(line) } } }

    func count(_ text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }

    func contain(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }
}
